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
  labels: [...labels(article, "missed"), ...labels(article, "wrong")],
  number: (name) => (article.dataset[name] === "" ? -Infinity : Number(article.dataset[name])),
}));

// names to choose from, those with the most errors first
const amounts = new Map();
for (const { labels } of records) for (const { name } of labels) amounts.set(name, (amounts.get(name) || 0) + 1);
const byAmount = [...amounts].sort((a, b) => b[1] - a[1]);
document.querySelector("#names").append(...byAmount.map(([name, amount]) => new Option(`${amount} errors`, name)));

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
  const wanted = words.toLowerCase().split(/\s+/);
  let amount = 0;
  for (const record of records) {
    let fits = false;
    for (const each of record.labels) {
      const hit = (kind === "" || each.kind === kind) && isSought(each.name);
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
