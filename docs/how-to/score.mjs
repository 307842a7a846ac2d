// Scores of a text as `ovaflow predict --no-rerank` gives them; see share-a-model.md#score-elsewhere.
import { readFileSync } from "node:fs";

const table = name => readFileSync(`elsewhere/model.${name}`, "utf8").split("\n").slice(1, -1).map(line => line.split("\t"));
const vocabulary = new Map(table("vocabulary.tsv").map(([id, name, idf]) => [name, { id, idf: Number(idf) }]));
const weights = [];
for (const [feature, label, weight] of table("tsv")) (weights[feature] ??= []).push([label, Number(weight)]);

export function scores(text) {
  const form = text.normalize("NFKC").toLowerCase().replaceAll("ß", "ss").replaceAll("ς", "σ").normalize("NFKC");
  const words = (form.match(/[\p{L}\p{N}_][\p{L}\p{N}_\p{M}]+/gu) ?? []).filter(word => !/^\p{Nd}+$/u.test(word));
  const prefixes = words.map(word => [...word]).filter(word => word.length > 6).map(word => word.slice(0, 6).join("") + "*");
  const tf = new Map(), sums = {};
  for (const term of [...words, ...prefixes]) if (vocabulary.has(term)) tf.set(term, (tf.get(term) ?? 0) + 1);
  const x = [...tf].map(([term, n]) => [vocabulary.get(term).id, Math.log1p(n) * vocabulary.get(term).idf]);
  const length = Math.hypot(...x.map(([, value]) => value)) || 1;
  for (const [feature, value] of [...x, [vocabulary.size, length]]) // the bias is the last feature
    for (const [label, weight] of weights[feature] ?? []) sums[label] = (sums[label] ?? 0) + (weight * value) / length;
  return sums; // by the label's number
}
