"use strict";
// Records are filtered and sorted as the form says.
const main = document.querySelector("main");
const form = document.querySelector("form.filter");
const shown = document.querySelector("output.shown");

const labels = (article, kind) =>
  [...article.querySelectorAll(`li.${kind}`)].map((chip) => ({ chip, kind, name: chip.querySelector("bdi").textContent }));
const records = [...main.children].map((article) => ({
  article,
  text: article.querySelector(".document").textContent.toLowerCase(),
  labels: ["missed", "wrong", "found"].flatMap((kind) => labels(article, kind)),
  number: (name) => (article.dataset[name] === "" ? -Infinity : Number(article.dataset[name])),
}));

// names to choose from, those with the most errors first
const amounts = new Map();
for (const { labels } of records)
  for (const { name, kind } of labels) {
    if (!amounts.has(name)) amounts.set(name, { errors: 0, right: 0 });
    amounts.get(name)[kind === "found" ? "right" : "errors"] += 1;
  }
const byErrors = [...amounts].sort((a, b) => b[1].errors - a[1].errors);
const option = ([name, { errors, right }]) => new Option(`${errors} errors, ${right} right`, name);
document.querySelector("#names").append(...byErrors.map(option));

const orders = {
  "": () => 0,
  missed: (a, b) => b.number("missed") - a.number("missed"),
  wrong: (a, b) => b.number("wrong") - a.number("wrong"),
  surest: (a, b) => (b.number("surest") > a.number("surest")) - (b.number("surest") < a.number("surest")),
  row: (a, b) => a.number("row") - b.number("row"),
};

function update() {
  const { label, kind, words, order } = Object.fromEntries(new FormData(form));
  const sought = label.toLowerCase();
  const isSought = (name) => (amounts.has(label) ? name === label : name.toLowerCase().includes(sought));
  const kinds = kind.split(" ");
  const wanted = words.toLowerCase().split(/\s+/);
  let amount = 0;
  for (const record of records) {
    let fits = false;
    for (const each of record.labels) {
      const hit = kinds.includes(each.kind) && isSought(each.name);
      each.chip.classList.toggle("sought", hit && label !== "");
      fits ||= hit;
    }
    fits &&= wanted.every((word) => record.text.includes(word));
    record.article.hidden = !fits;
    amount += fits;
  }
  main.append(...[...records].sort(orders[order]).map((record) => record.article));
  shown.textContent = `${amount.toLocaleString("en")} of ${records.length.toLocaleString("en")} records on this page`;
}

form.addEventListener("input", update);
form.querySelector("button").addEventListener("click", (event) => {
  event.preventDefault();
  form.reset();
  update();
});
form.addEventListener("submit", (event) => event.preventDefault());
form.hidden = shown.hidden = false;
update();
