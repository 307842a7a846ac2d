"use strict";
// Names and texts are foreign: they only ever become text nodes.
const by = (id) => document.getElementById(id);
const state = {
  health: null, request: null, answer: null, turn: 0, label: null,
  // labels that are ticked: of these, those that the page ticked; of the others, those that a person took back
  chosen: new Map(), suggested: new Set(), refused: new Set(),
  // the id under which the text was saved
  saved: null,
};

function node(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function nameOf(label) {
  return node("bdi", {textContent: label.name.trim() || `label ${label.id}`});
}

// a name, with the subject's notation
function titleOf(label) {
  const notation = label.notation ? [node("span", {className: "notation", textContent: label.notation})] : [];
  return node("span", {}, nameOf(label), ...notation);
}

// a link to a subject, where it is somewhere on the web
function linkOf(label) {
  if (!/^https?:\/\//i.test(label.uri || "")) return titleOf(label);
  return node("a", {href: label.uri, target: "_blank", rel: "noreferrer"}, titleOf(label));
}

function short(number) {
  return Math.abs(number) < 0.0005 && number !== 0 ? number.toExponential(0) : number.toFixed(Math.abs(number) < 10 ? 3 : 1);
}

function signed(number) {
  return (number < 0 ? "−" : "+") + short(Math.abs(number));
}

function percent(probability) {
  if (probability > 0 && probability < 0.01) return "< 1 %";
  return probability > 0.99 && probability < 1 ? "> 99 %" : `${Math.round(100 * probability)} %`;
}

async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body),
  };
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("The service does not answer.");
  }
  const answer = await response.json().catch(() => ({detail: `status ${response.status}`}));
  if (!response.ok) throw new Error(answer.detail);
  return answer;
}

function complain(error) {
  by("error").textContent = error ? error.message : "";
  by("error").hidden = !error;
  if (error) by("status").textContent = "";
}

// what was typed, as a request: a text, or one feature and its value per line
function readRequest() {
  const text = by("text").value;
  if (state.health.takes_text) return {text: text.toWellFormed ? text.toWellFormed() : text};
  const features = {};
  for (const line of text.split("\n")) {
    if (!line.trim()) continue;
    const [, feature, value] = line.trim().match(/^(.*?)(?:[\s:=]+([-+]?[\d.]+(?:e[-+]?\d+)?))?$/i);
    features[feature] = value === undefined ? 1 : Number(value);
  }
  return {features};
}

// of the labels' names; undefined where there is only one
function language() {
  return by("language").value || undefined;
}

function offerLanguages(codes) {
  if (codes.length < 2) return;
  by("language").replaceChildren(...codes.map((code) => node("option", {value: code, textContent: languageName(code)})));
  const preferred = navigator.languages.map((each) => codes.find((code) => code === each || code === each.split("-")[0]));
  by("language").value = preferred.find(Boolean) ?? codes[0];
  by("language").addEventListener("change", () => { if (state.request) predict(); });
  by("language-part").hidden = false;
}

// a language as its speakers call it
function languageName(code) {
  try {
    return new Intl.DisplayNames([code], {type: "language"}).of(code);
  } catch {
    return code;
  }
}

async function predict() {
  const turn = ++state.turn;
  await introduced;
  const request = readRequest();
  if (!by("text").value.trim()) {
    by("text").focus();
    return;
  }
  complain(null);
  by("go").disabled = true;
  by("status").textContent = "Looking …";
  const instance = request.features ? {features: [request.features]} : request;
  const started = performance.now();
  try {
    const answer = await ask("predict", {...instance, top_k: Number(by("top-k").value), language: language()});
    if (turn !== state.turn) return;
    if (JSON.stringify(request) !== JSON.stringify(state.request)) forget();
    Object.assign(state, {request, answer});
    const [prediction] = answer.predictions;
    suggest(prediction.features ? prediction.labels.slice(0, prediction.fit ?? 0) : []);
    show(prediction, performance.now() - started);
    if (prediction.labels.length) await explain(prediction.labels[0], false);
  } catch (error) {
    if (turn === state.turn) complain(error);
  } finally {
    by("go").disabled = false;
  }
}

function fitting(labels) {
  const n = labels.length;
  if (n < 2) return n ? "1 of them fits." : "None of them fits.";
  const right = Math.round(labels.reduce((sum, label) => sum + label.probability, 0));
  if (right === n) return `${n} of them fit, and probably all ${n} are right.`;
  return `${n} of them fit, and about ${Math.max(right, 1)} of these ${n} ${right > 1 ? "are" : "is"} right.`;
}

// before another text: once one is saved, what a person chose was for that one
function forget() {
  state.refused.clear();
  if (state.saved === null) return;
  state.chosen.clear();
  if (by("record").value === state.saved) by("record").value = "";
  state.saved = null;
}

function summary({labels, features, fit}, milliseconds) {
  if (!labels.length) return "No label.";
  const kind = state.health.takes_text ? "word" : "feature";
  if (!features) return `The model knows none of these ${kind}s: these labels mean nothing.`;
  const known = `${features.toLocaleString("en")} known ${kind}${features > 1 ? "s" : ""}`;
  const found = `${labels.length} labels from ${known} in ${Math.max(1, Math.round(milliseconds))} ms.`;
  if (!state.health.probabilities) return `${found} Scores put labels in order; they are not probabilities.`;
  if (fit > labels.length) return `${found} ${fit} fit: show more to see them.`;
  return `${found} ${fitting(labels.slice(0, fit))}`;
}

function show(prediction, milliseconds) {
  const {labels} = prediction;
  by("status").textContent = summary(prediction, milliseconds);
  const probable = state.health.probabilities;
  const scores = labels.map((label) => label.score);
  const low = Math.min(0, ...scores) < 0 ? Math.min(-1, ...scores) : 0;
  const high = Math.max(1, ...scores);
  by("labels").replaceChildren(...labels.map((label) => {
    const bar = node("span", {className: "bar", ariaHidden: "true"}, node("i", {}));
    bar.firstChild.style.setProperty("--part", `${(100 * (label.score - low) / (high - low)).toFixed(1)}%`);
    const [title, figure] = probable ? ["probability", percent(label.probability)] : ["score", signed(label.score)];
    return row(label, title, node("data", {value: label.score, textContent: figure}), bar);
  }));
  by("copy").hidden = false;
}

// a label that is explained when it is clicked, and its tick
function row(label, title, ...figures) {
  const tick = node("input", {type: "checkbox", ariaLabel: `Choose ${label.name}`, checked: state.chosen.has(label.id)});
  tick.dataset.choose = label.id;
  tick.addEventListener("change", () => choose(label, tick.checked));
  const button = node("button", {type: "button", className: "label", title}, titleOf(label), ...figures);
  button.dataset.label = label.id;
  button.addEventListener("click", () => explain(label, true));
  return node("li", {className: "row"}, tick, button);
}

// ticks the labels that fit, in place of those that fitted the text before
function suggest(labels) {
  for (const id of state.suggested) state.chosen.delete(id);
  const fresh = labels.filter((label) => !state.chosen.has(label.id) && !state.refused.has(label.id));
  for (const label of fresh) state.chosen.set(label.id, label);
  state.suggested = new Set(fresh.map((label) => label.id));
  show_chosen();
}

function choose(label, ticked) {
  state.suggested.delete(label.id);
  if (ticked) {
    state.chosen.set(label.id, label);
    state.refused.delete(label.id);
  } else {
    state.chosen.delete(label.id);
    state.refused.add(label.id);
  }
  show_chosen();
}

function show_chosen() {
  const labels = [...state.chosen.values()];
  const can_save = by("save") && state.request;
  by("chosen-part").hidden = !labels.length && !can_save;
  if (can_save) {
    by("save").hidden = false;
    report("");
  }
  by("chosen").replaceChildren(...labels.map((label) => {
    const remove = node("button", {type: "button", className: "quiet", textContent: "×", ariaLabel: `Remove ${label.name}`});
    remove.addEventListener("click", () => choose(label, false));
    return node("li", {}, linkOf(label), remove);
  }));
  for (const tick of document.querySelectorAll("[data-choose]")) tick.checked = state.chosen.has(Number(tick.dataset.choose));
}

// lines to paste: MARC 650 has the subject in $a, the vocabulary in $2 and the URI in $0
const LINES = {
  names: (label) => label.name,
  uris: (label) => label.uri,
  marc: (label) => label.uri && state.source ? `650 #7 $a ${label.name} $2 ${state.source} $0 ${label.uri}` : `650 #4 $a ${label.name}`,
};

function report(message, failed = false) {
  by("saved").textContent = message;
  by("saved").className = failed ? "error" : "note";
}

async function save() {
  const {request, answer} = state;
  const record = by("record").value;
  const correction = {...request, labels: [...state.chosen.keys()], suggested: answer.predictions[0].labels.map((label) => label.id)};
  if (record.trim()) correction.id = record.trim();
  try {
    await ask("corrections", correction);
    state.saved = record;
    const number = correction.labels.length;
    report(`Saved with ${number || "no"} label${number === 1 ? "" : "s"}.`);
  } catch (error) {
    report(error.message, true);
  }
}

async function explain(label, move) {
  state.label = label.id;
  for (const button of document.querySelectorAll("button.label")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.label) === label.id));
  }
  try {
    const explained = state.request && state.health.explanations;
    const [reasons, described] = await Promise.all([
      explained ? ask("explain", {...state.request, labels: [label.id], words: WORDS, language: language()}).catch(() => null) : null,
      ask(`labels/${label.id}${language() ? `?language=${encodeURIComponent(language())}` : ""}`),
    ]);
    if (state.label !== label.id) return;
    describe(described, reasons && reasons.labels[0]);
    complain(null);
    if (move) {
      by("why").focus({preventScroll: true});
      by("why").scrollIntoView({block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth"});
    }
  } catch (error) {
    complain(error);
  }
}

function describe(described, reasons) {
  const {label} = described;
  by("why-title").replaceChildren(linkOf(label));
  const parts = [`${label.positives.toLocaleString("en")} training example${label.positives === 1 ? "" : "s"}`];
  if (!label.trained) parts.push("no classifier, so it is never predicted");
  if (reasons && reasons.probability) parts.push(`probability ${percent(reasons.probability)}`);
  if (reasons) parts.push(`score of the words ${signed(reasons.score)}, of which ${signed(reasons.bias)} is the bias, without any word`);
  else if (label.trained && !state.health.explanations) parts.push("this kind of model cannot say which words a score is made of");
  by("why-note").textContent = `${parts.join("; ")}.`;
  by("evidence").replaceChildren(...(reasons?.evidence ?? []).map((each) => node("li", {dir: "auto", textContent: each.text})));
  const most = reasons ? largest([...reasons.up, ...reasons.down], "contribution") : 0;
  fill("for", reasons && reasons.up, "contribution", most);
  fill("against", reasons && reasons.down, "contribution", most);
  fill("strongest", described.up, "weight", largest(described.up || [], "weight"));
  const near = described.nearest || [];
  by("nearest-part").hidden = !near.length;
  by("nearest").replaceChildren(...near.map((other) => choice(other, other.cosine.toFixed(2), "cosine of the weights")));
  by("reading").hidden = !(reasons && state.request.text);
  if (!by("reading").hidden) mark(state.request.text, reasons);
  by("why").hidden = false;
}

const SHOWN = 12;
const LEAST_SHARE = 0.02; // words of less than this share of the strongest are neither marked nor listed

function largest(words, key) {
  return Math.max(0, ...words.map((word) => Math.abs(word[key])));
}

function fill(id, words, key, most) {
  const shown = (words || []).filter((word) => Math.abs(word[key]) > LEAST_SHARE * most).slice(0, SHOWN);
  by(id).replaceChildren(...shown.map((word) => {
    const bar = node("span", {className: "bar", ariaHidden: "true"}, node("i", {}));
    bar.firstChild.style.setProperty("--part", `${(100 * Math.abs(word[key]) / most).toFixed(1)}%`);
    return node("li", {}, node("bdi", {textContent: word.feature}), node("data", {value: word[key], textContent: signed(word[key])}), bar);
  }));
  by(`${id}-part`).hidden = !shown.length;
}

function choice(label, figure, title) {
  return row(label, title, node("data", {textContent: figure}));
}

// spans count code points; a text of JavaScript counts UTF-16 units
function mark(text, reasons) {
  const points = Array.from(text);
  const words = [...reasons.up, ...reasons.down];
  const most = largest(words, "contribution");
  const strong = words.filter((word) => Math.abs(word.contribution) > LEAST_SHARE * most);
  strong.sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution));
  // of features that overlap, such as a word and a pair with it, the strongest is marked
  const spans = [];
  for (const [start, end, word] of strong.flatMap((word) => word.spans.map((span) => [...span, word]))) {
    if (spans.every(([from, to]) => end <= from || to <= start)) spans.push([start, end, word]);
  }
  const pieces = [];
  let at = 0;
  for (const [start, end, word] of spans.sort((a, b) => a[0] - b[0])) {
    const marked = node("mark", {
      className: word.contribution > 0 ? "up" : "down", title: `${word.feature} ${signed(word.contribution)}`,
      textContent: points.slice(start, end).join(""),
    });
    marked.style.setProperty("--strength", `${Math.round(8 + 52 * Math.abs(word.contribution) / most)}%`);
    pieces.push(points.slice(at, start).join(""), marked);
    at = end;
  }
  by("marked").replaceChildren(...pieces, points.slice(at).join(""));
}

let waiting;

function search() {
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    const query = by("search").value;
    if (!query.trim()) {
      by("found-note").textContent = "";
      by("found").replaceChildren();
      return;
    }
    try {
      const words = new URLSearchParams({limit: 12, search: query});
      if (language()) words.set("language", language());
      const page = await ask(`labels?${words}`);
      if (query !== by("search").value) return;
      const more = page.total > page.labels.length ? `, the first ${page.labels.length} of them` : "";
      by("found-note").textContent = page.total ? `${page.total.toLocaleString("en")} found${more}.` : "None found.";
      by("found").replaceChildren(...page.labels.map((label) => choice(label, label.positives.toLocaleString("en"), "training examples")));
    } catch (error) {
      by("found-note").textContent = error.message;
    }
  }, 150);
}

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // without https, browsers have no clipboard but this
    const field = node("textarea", {value: text, className: "offstage"});
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
    button.focus();
  }
  button.dataset.text ??= button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = button.dataset.text; }, 1500);
}

function introduce(health) {
  state.health = health;
  state.source = document.documentElement.dataset.marcSource || health.vocabulary;
  offerLanguages(health.languages);
  document.querySelector("[data-copy=uris]").hidden = !health.vocabulary;
  const labels = `${health.labels.toLocaleString("en")} labels`;
  by("about").textContent = health.takes_text
    ? `Paste a text and see which of ${labels} fit it, and which of its words say so.`
    : `Give the features of an instance and see which of ${labels} fit it.`;
  by("model").textContent = `Model ${health.model}, ${health.method}, ${health.features.toLocaleString("en")} features. ${health.remark}`;
  if (!health.takes_text) {
    by("title").textContent = "Labels for an instance";
    by("text-label").textContent = "Its features and their values, one per line";
    by("text").placeholder = "feature 1.5";
  }
  const example = health.takes_text ? '{"text": "How to train a dragon", "top_k": 3}' : '{"features": [{"0": 1.5}], "top_k": 3}';
  const base = new URL(".", location.href).href;
  const post = (path, body) => `curl ${base}${path} --json '${body}'`;
  by("curl").textContent = [post("predict", example), post("explain", example.replace("[{", "{").replace("}]", "}")),
    `curl '${base}labels?search=word'`].join("\n\n");
}

// people may ask before the model has said what it is
const introduced = ask("health").then(introduce);

async function begin() {
  by("form").addEventListener("submit", (event) => { event.preventDefault(); predict(); });
  by("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) predict();
  });
  by("search").addEventListener("input", search);
  by("save")?.addEventListener("submit", (event) => { event.preventDefault(); save(); });
  by("copy").addEventListener("click", () => copy(by("copy"), JSON.stringify(state.answer, null, 2)));
  by("clear").addEventListener("click", () => { for (const label of [...state.chosen.values()]) choose(label, false); });
  for (const button of document.querySelectorAll("[data-copy]")) {
    const line = LINES[button.dataset.copy];
    button.addEventListener("click", () => copy(button, [...state.chosen.values()].map(line).join("\n")));
  }
  try {
    await introduced;
  } catch (error) {
    by("about").textContent = "";
    complain(error);
    return;
  }
  // a link may bring a text along: the part of an address behind # is never sent to a server
  const brought = new URLSearchParams(location.hash.slice(1));
  const text = brought.get("text");
  if (by("save")) by("record").value = brought.get("id") ?? "";
  if (text) {
    by("text").value = text;
    await predict();
  }
}

const WORDS = Number(document.documentElement.dataset.words);
begin();
