// The tagger of this library in a page or in Node.
//
//   const tagger = await Tagger.load(bytesOfAModelFile);
//   tagger.tag([["the", "dog", "sleeps"]])  // [[{word: "the", tag: "DET", probability: 0.99}, ...]]
import createModule from "./tagger-web.js";

export class Tagger {
  // The model in the bytes of a file of `tagger train`, an ArrayBuffer or a view of one. `wasm` holds the bytes of
  // tagger-web.wasm, which is fetched from beside this file otherwise; errors call the model `name`. Throws an Error
  // with a sentence.
  static async load(bytes, wasm = undefined, name = "model") {
    if (ArrayBuffer.isView(bytes)) bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    else if (bytes instanceof ArrayBuffer) bytes = new Uint8Array(bytes);
    else throw new TypeError("a model is an ArrayBuffer or a view of one, with the bytes of its file");
    const module = await createModule(wasm ? { wasmBinary: wasm } : {});
    const file = name.replace(/[/\0]/g, "_") || "model";
    module.FS.writeFile(file, bytes);
    try {
      return new Tagger(module, answer(module, "load_model", file).split("\n"));
    } finally {
      module.FS.unlink(file);
    }
  }

  constructor(module, tags) {
    this.module = module;
    this.tags = tags;
  }

  // The best tag of each word of each sentence, an array of words.
  tag(sentences) {
    const lines = [];
    for (const words of Array.from(sentences)) {
      if (!Array.isArray(words)) throw new TypeError("a sentence is an array of words");
      for (const word of Array.from(words)) {
        if (typeof word !== "string" || word === "" || /[\n\0]/.test(word))
          throw new TypeError("a word is a text that is not empty, without line breaks");
        lines.push(word);
      }
      if (words.length > 0) lines.push("");
    }
    const found = answer(this.module, "tag", lines.join("\n")).split("\n");
    let line = 0;
    return sentences.map((words) => {
      const tagged = words.map((word) => {
        const [tag, probability] = found[line++].split("\t");
        return { word, tag, probability: Number(probability) };
      });
      if (words.length > 0) ++line;
      return tagged;
    });
  }
}

// The words and punctuation marks of each sentence of running text. Segments keep a copy of their text in some
// engines, so none is kept, and lines are taken one by one.
export function splitText(text, language = "en") {
  const sentences = new Intl.Segmenter(language, { granularity: "sentence" });
  const words = new Intl.Segmenter(language, { granularity: "word" });
  const found = [];
  for (const line of text.replaceAll("\0", " ").split(/\r?\n/)) {
    for (const { segment: sentence } of sentences.segment(line)) {
      const inside = [];
      for (const { segment: word } of words.segment(sentence)) if (word.trim() !== "") inside.push(word);
      if (inside.length > 0) found.push(inside);
    }
  }
  return found;
}

// Calls a function with a text and returns its answer. Lone surrogates become U+FFFD.
function answer(module, name, text) {
  const bytes = new TextEncoder().encode(text);
  const memory = module._malloc(bytes.length + 1);
  if (memory === 0) throw new Error("there is not enough memory for this text");
  try {
    module.HEAPU8.set(bytes, memory);
    module.HEAPU8[memory + bytes.length] = 0;
    const answered = module.ccall(name, "string", ["number"], [memory]);
    if (answered[0] === "!") throw new Error(answered.slice(1));
    return answered.slice(1);
  } finally {
    module._free(memory);
  }
}
