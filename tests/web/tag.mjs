// Tags the sentences on standard input in Node: node tag.mjs FOLDER MODEL < sentences.json
import fs from "node:fs";
import path from "node:path";

const [folder, model] = process.argv.slice(2).map((name) => path.resolve(name));
const { Tagger, splitText } = await import(path.join(folder, "tagger.mjs"));
const given = JSON.parse(fs.readFileSync(0, "utf8"));
try {
  const tagger = await Tagger.load(fs.readFileSync(model), fs.readFileSync(path.join(folder, "tagger-web.wasm")));
  const found = tagger.tag(given.text === undefined ? given.sentences : splitText(given.text));
  console.log(JSON.stringify({ found }));
} catch (error) {
  console.log(JSON.stringify({ error: error.message }));
}
