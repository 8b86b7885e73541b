// The tagger of this library in a page or in Node.
//
//   const tagger = await Tagger.load(bytesOfAModelFile);
//   tagger.tag([["the", "dog", "sleeps"]])  // [[{word: "the", tag: "DET", probability: 0.99}, ...]]
import createModule from "./tagger-web.js";

export class Tagger {
  // The model in the bytes of a file of `tagger train`. `wasm` holds the bytes of tagger-web.wasm, which is fetched
  // from beside this file otherwise. Throws an Error with a sentence.
  static async load(bytes, wasm = undefined) {
    const module = await createModule(wasm ? { wasmBinary: wasm } : {});
    module.FS.writeFile("/model", bytes);
    try {
      return new Tagger(module, answer(module, "load_model", "/model").split("\n"));
    } finally {
      module.FS.unlink("/model");
    }
  }

  constructor(module, tags) {
    this.module = module;
    this.tags = tags;
  }

  // The best tag of each word of each sentence, an array of words.
  tag(sentences) {
    for (const word of sentences.flat())
      if (typeof word !== "string" || word === "" || /[\n\0]/.test(word))
        throw new Error("a word is a text that is not empty, without line breaks");
    const text = sentences.map((words) => words.join("\n") + "\n\n").join("");
    const lines = answer(this.module, "tag", text).split("\n");
    let line = 0;
    return sentences.map((words) => {
      const found = words.map((word) => {
        const [tag, probability] = lines[line++].split("\t");
        return { word, tag, probability: Number(probability) };
      });
      ++line;
      return found;
    });
  }
}

// The words and punctuation marks of each sentence of running text.
export function splitText(text, language = "en") {
  const sentences = new Intl.Segmenter(language, { granularity: "sentence" });
  const words = new Intl.Segmenter(language, { granularity: "word" });
  return [...sentences.segment(text)]
    .map(({ segment }) => [...words.segment(segment)].map((w) => w.segment).filter((w) => w.trim() !== ""))
    .filter((sentence) => sentence.length > 0);
}

function answer(module, name, argument) {
  const text = module.ccall(name, "string", ["string"], [argument]);
  if (text[0] === "!") throw new Error(text.slice(1));
  return text.slice(1);
}
