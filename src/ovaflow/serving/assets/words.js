"use strict";
// What the page says, in its language.
const LANGUAGE = document.documentElement.lang;
const SENTENCES = JSON.parse(document.getElementById("words").textContent);
const plural = new Intl.PluralRules(LANGUAGE);

// a sentence with values; of those that depend on a number n, the one for it
function say(key, values = {}) {
  let sentence = SENTENCES[key];
  if (typeof sentence === "object") sentence = sentence[plural.select(values.right ?? values.n)] ?? sentence.other;
  return sentence.replace(/\{(\w+)\}/g, (_, name) => typeof values[name] === "number" ? counted(values[name]) : values[name]);
}

function counted(number) {
  return number.toLocaleString(LANGUAGE);
}

function decimals(number, digits) {
  return number.toLocaleString(LANGUAGE, {minimumFractionDigits: digits, maximumFractionDigits: digits});
}

function signed(number) {
  const size = Math.abs(number);
  const shown = size < 0.0005 && size ? size.toExponential(0) : decimals(size, size < 10 ? 3 : 1);
  return (number < 0 ? "−" : "+") + shown;
}

function percent(probability) {
  const shown = (n) => say("percent", {n});
  if (probability > 0 && probability < 0.01) return `< ${shown(1)}`;
  return probability > 0.99 && probability < 1 ? `> ${shown(99)}` : shown(Math.round(100 * probability));
}

function moment(time) {
  return time ? new Date(time).toLocaleString(LANGUAGE, {dateStyle: "medium", timeStyle: "short"}) : "?";
}

function listed(names) {
  return new Intl.ListFormat(LANGUAGE).format(names);
}

// a language as its speakers call it, or in the page's language
function languageName(code, inLanguage = code) {
  try {
    return new Intl.DisplayNames([inLanguage], {type: "language"}).of(code);
  } catch {
    return code;
  }
}

// what the second stage knows of a label; English is as the service says it
function evidenceInWords(evidence) {
  const sentence = SENTENCES.evidence?.[evidence.kind];
  if (!sentence) return evidence.text;
  return sentence.replace(/\{(\w+)\}/g, (_, name) => name === "names" ? listed(evidence.names) : evidence[name]);
}
