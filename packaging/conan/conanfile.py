"""Conan 2: `conan create packaging/conan` in a checkout. See docs/packaging.md."""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.system.package_manager import Apt

required_conan_version = ">=2.0"


class DynetLike(ConanFile):
    name = "dynet-like"
    description = "Dynamic neural networks for C++20"
    license = "Apache-2.0"
    topics = ("neural-networks", "machine-learning", "nlp", "dynet")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        # Boost and the headers that building takes, from the system (Debian's packages) instead of from Conan.
        "system_libraries": [True, False],
    }
    default_options = {"shared": False, "fPIC": True, "system_libraries": False}
    implements = ["auto_shared_fpic"]

    def _checkout(self):
        return os.path.join(self.recipe_folder, os.pardir, os.pardir)

    def set_version(self):
        cmake = load(self, os.path.join(self._checkout(), "CMakeLists.txt"))
        self.version = re.search(r"^ *VERSION ([0-9.]+)$", cmake, re.MULTILINE).group(1)

    def export_sources(self):
        for what in ("CMakeLists.txt", "LICENSE", "cmake/*", "dynet-like/*", "kernels/*"):
            copy(self, what, self._checkout(), self.export_sources_folder)

    def requirements(self):
        if self.options.system_libraries:
            return
        self.requires("boost/1.83.0", transitive_headers=True, transitive_libs=True)
        self.requires("eigen/3.4.0", visible=False)
        self.requires("nlohmann_json/3.11.3", visible=False)
        self.requires("xxhash/0.8.2", visible=False)

    def system_requirements(self):
        if self.options.system_libraries:
            Apt(self).install(["libboost-serialization-dev", "libeigen3-dev", "nlohmann-json3-dev", "libxxhash-dev"])

    def validate(self):
        if self.settings.get_safe("compiler.cppstd"):
            check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "EXAMPLES", "TOOLS", "BENCHMARKS", "CUDA", "NATIVE", "ZLIB"):
            toolchain.cache_variables[f"DYNET_{part}"] = False
        toolchain.cache_variables["DYNET_INSTALL"] = True
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        for what in ("cmake", "pkgconfig"):  # Conan writes its own
            rmdir(self, os.path.join(self.package_folder, "lib", what))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "dynet-like")
        library = self.cpp_info.components["dynet-like"]
        library.set_property("cmake_target_name", "dynet-like::dynet-like")
        library.set_property("pkg_config_name", "dynet-like")
        library.libs = ["dynet-like"]
        if self.options.system_libraries:
            library.system_libs = ["boost_serialization"]
        else:
            library.requires = ["boost::serialization"]
        if self.settings.os in ("Linux", "FreeBSD"):
            library.system_libs.append("pthread")
        c = self.cpp_info.components["c"]
        c.set_property("cmake_target_name", "dynet-like::c")
        c.set_property("pkg_config_name", "dynet-like-c")
        c.libs = ["dynet-like-c"]
        c.requires = ["dynet-like"]
        compat = self.cpp_info.components["compat"]
        compat.set_property("cmake_target_name", "dynet-like::compat")
        compat.set_property("pkg_config_name", "dynet-like-compat")
        compat.libs = ["dynet-like-compat"]
        compat.includedirs = ["include", "include/dynet-like/compat/include"]
        compat.requires = ["dynet-like"]
