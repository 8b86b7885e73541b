#pragma once

#include "tests/examples/programs.h"

/// A folder with a model that has learned to split "don't".
class AnnotatedFolder : public ProgramFolder {
 public:
  AnnotatedFolder() : ProgramFolder({"annotate", ANNOTATE_BINARY}) {
    std::string data;
    for (int i = 0; i < 60; ++i)
      data += std::string(i % 2 ? "1\tCats\tcat\tNOUN" : "1\tDogs\tdog\tNOUN") +
              "\tN\tNumber=Plur\t4\tnsubj\t_\t_\n"
              "2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdo\tdo\tAUX\tA\t_\t4\taux\t_\t_\n"
              "3\tn't\tnot\tPART\tP\t_\t4\tadvmod\t_\t_\n"
              "4\tsleep\tsleep\tVERB\tV\t_\t0\troot\t_\tSpaceAfter=No\n"
              "5\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_\n\n";
    write("data", data);
    must(
        "p train --train data --model model --name 'Cats 1.0' --epochs 6 --learning-rate 0.02 "
        "--letter-hidden 16 --word 8 --char 8 --hidden 8 --tree-hidden 8 --mlp 8 --arc 8 --label 8 "
        "--dropout 0 --letter-dropout 0 --batch 4");
  }
};
