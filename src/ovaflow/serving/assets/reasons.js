// Names and texts are foreign: they only ever become text nodes.
const by = (id) => document.getElementById(id);
const SHOWN = 12;
const LEAST_SHARE = 0.02; // words of less than this share of the strongest are neither marked nor listed

function node(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function nameOf(label) {
  return node("bdi", {textContent: label.name.trim() || say("label without name", {id: String(label.id)})});
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

// a bar of a width between 0 and 1
function barOf(part) {
  const bar = node("span", {className: "bar", ariaHidden: "true"}, node("i", {}));
  bar.firstChild.style.setProperty("--part", `${(100 * part).toFixed(1)}%`);
  return bar;
}

function describe(described, reasons, text, health) {
  const {label} = described;
  by("why-title").replaceChildren(linkOf(label));
  const parts = [say("examples", {n: label.positives})];
  if (!label.trained) parts.push(say("no classifier"));
  if (reasons && reasons.probability) parts.push(say("of probability", {p: percent(reasons.probability)}));
  if (label.trained && !health.explanations) parts.push(say("no reasons"));
  by("why-note").textContent = `${parts.join("; ")}.`;
  by("sums").textContent = reasons ? say("sums", {score: signed(reasons.score), bias: signed(reasons.bias)}) : "";
  const evidence = (reasons?.evidence ?? []).map(evidenceInWords);
  by("evidence").replaceChildren(...evidence.map((textContent) => node("li", {dir: "auto", textContent})));
  const most = reasons ? largest([...reasons.up, ...reasons.down], "contribution") : 0;
  fill("for", reasons && reasons.up, "contribution", most);
  fill("against", reasons && reasons.down, "contribution", most);
  fill("strongest", described.up, "weight", largest(described.up || [], "weight"));
  by("figures").hidden = !reasons && !described.up;
  const near = described.nearest || [];
  by("nearest-part").hidden = !near.length;
  by("nearest").replaceChildren(...near.map((other) => choice(other, decimals(other.cosine, 2), say("cosine"))));
  by("reading").hidden = !(reasons && text);
  if (!by("reading").hidden) mark(text, reasons);
  by("why").hidden = false;
}

function largest(words, key) {
  return Math.max(0, ...words.map((word) => Math.abs(word[key])));
}

function fill(id, words, key, most) {
  const shown = (words || []).filter((word) => Math.abs(word[key]) > LEAST_SHARE * most).slice(0, SHOWN);
  by(id).replaceChildren(...shown.map((word) => {
    const figure = node("data", {value: word[key], textContent: signed(word[key])});
    return node("li", {}, node("bdi", {textContent: word.feature}), figure, barOf(Math.abs(word[key]) / most));
  }));
  by(`${id}-part`).hidden = !shown.length;
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
