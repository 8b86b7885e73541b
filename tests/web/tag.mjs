// Tags the sentences on standard input in Node: node tag.mjs FOLDER MODEL < sentences.json
import fs from "node:fs";
import path from "node:path";

const [folder, model] = process.argv.slice(2).map((name) => path.resolve(name));
const { Tagger, splitText } = await import(path.join(folder, "tagger.mjs"));
const given = JSON.parse(fs.readFileSync(0, "utf8"));
try {
  const tagger = await Tagger.load(fs.readFileSync(model), fs.readFileSync(path.join(folder, "tagger-web.wasm")));
  const sentences = given.text === undefined ? given.sentences : splitText(given.text);
  tagger.tag(sentences);
  const start = performance.now();
  const found = tagger.tag(sentences);
  const seconds = (performance.now() - start) / 1000;
  console.log(JSON.stringify({ found, tags: tagger.tags, seconds, memory: tagger.module.HEAP8?.length }));
} catch (error) {
  console.log(JSON.stringify({ error: error.message }));
}
