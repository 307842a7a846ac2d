// What people do on the page, and how the record on the desk is shown. Only put() changes what is on the desk.
const MOST_WORDS = Number(document.documentElement.dataset.words);
const FIELDS = [...document.querySelectorAll("[data-column]")];
let health = null, desk = NOTHING, turn = 0, looking = false, explained = null, isSwitching = false;

async function ask(path, body, type = "application/json") {
  const options = body === undefined ? {} : {method: "POST", headers: {"Content-Type": type}, body};
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error(say("service away"));
  }
  const answer = await response.json().catch(() => ({detail: `status ${response.status}`}));
  if (!response.ok) throw Object.assign(new Error(answer.detail), {code: answer.code, correction: answer.correction});
  return answer;
}

function post(path, body) {
  return ask(path, JSON.stringify(body));
}

function complain(error) {
  by("error").textContent = error ? error.message : "";
  by("error").hidden = !error;
  if (error) by("status").textContent = "";
}

function remark(...sentences) {
  by("remark").textContent = sentences.filter(Boolean).join(" ");
  by("remark").hidden = !by("remark").textContent;
}

// of the labels' names; undefined where there is only one
function labelLanguage() {
  return by("language").value || undefined;
}

// the record on the desk is another one from now on, in whole
function put(record) {
  const former = desk;
  desk = record;
  if (by("save") && desk.id !== former.id) by("record").value = desk.id;
  if (by("save") && desk.key !== former.key) reportFailure("");
  if (desk.answer !== former.answer) {
    showLabels();
    showSummary();
  }
  showChosen();
}

// the content of the form: the text, and the other columns by name
function form() {
  return {text: by("text").value, beside: Object.fromEntries(FIELDS.map((field) => [field.dataset.column, valueOf(field)]))};
}

function valueOf(field) {
  if (!field.value.trim()) return null;
  return field.type === "number" ? field.valueAsNumber : field.value.trim();
}

function write({text, beside = {}}) {
  by("text").value = text.toWellFormed ? text.toWellFormed() : text;
  for (const field of FIELDS) field.value = beside[field.dataset.column] ?? "";
}

// the record on the desk as it is sent
function request() {
  return requestOf(desk, health.columns?.texts);
}

function namesBeside() {
  return FIELDS.map((field) => field.dataset.column);
}

// of the page, without a record
function addressWithout() {
  return location.pathname + location.search;
}

async function open(next, note = "") {
  write(next);
  history.replaceState(null, "", next.address || addressWithout());
  put(opened({...next, ...form()}));
  by("why").hidden = true;
  await look(note);
}

// what is still being asked for is not wanted any more
function nextTurn(isLooking) {
  complain(null);
  looking = isLooking;
  showSaving();
  return ++turn;
}

// find the labels of the record on the desk
async function look(note = "") {
  const mine = nextTurn(true), current = () => mine === turn;
  remark(note);
  try {
    await introduced;
    if (current()) await lookFor(current, note);
  } catch (error) {
    if (current()) complain(error);
  } finally {
    if (current()) {
      looking = false;
      showSaving();
    }
  }
}

async function lookFor(current, note) {
  if (!desk.text.trim()) {
    const saved = desk.id ? await savedOf({id: desk.id}) : null;
    if (!current()) return;
    if (saved) return open({...saved, id: desk.id, address: desk.address});
    by("status").textContent = say("empty");
    return by("text").focus();
  }
  if (/^\s*(https?|ftp):\/\/\S+\s*$/i.test(desk.text)) return by("status").textContent = say("address");
  if (health.takes_text && /^\s*<[a-z!][^>]*>|<\/[a-z]\w*\s*>/i.test(desk.text)) {
    const {text} = await ask("texts?name=pasted.html", desk.text, "text/html");
    if (!current()) return;
    // unless the user types meanwhile
    if (form().text === desk.text) by("text").value = text;
    put(Object.freeze({...desk, text, columns: null}));
    remark(note = [note, say("html")].filter(Boolean).join(" "));
  }
  by("status").textContent = say("looking");
  const [answer, saved] = await Promise.all([predict(), findSaved()]);
  if (!current()) return;
  if (saved && desk.saved === undefined && isSavedWithMore(desk, saved)) {
    write({text: form().text, beside: saved.beside});
    put(Object.freeze({...desk, beside: form().beside, saved}));
    return lookFor(current, note);
  }
  const basis = saved && desk.saved === undefined && isSavedWithOther(desk, saved) ? await askBasis(saved, answer) : undefined;
  if (!current()) return;
  put(found(desk, answer, saved, basis));
  remark(note, ...doubts(answer.predictions[0]));
  if (labelsOf(answer).length) await explain(labelsOf(answer)[0], false);
}

function predict() {
  const instance = health.takes_text ? request() : {features: [featuresOf(desk.text)]};
  return post("predict", {...instance, top_k: Number(by("top-k").value), language: labelLanguage()});
}

// what is saved of the record on the desk: asked once, so that what others save meanwhile is seen when it is saved
async function findSaved() {
  if (desk.saved !== undefined || !by("save")) return desk.saved ?? null;
  return savedOf({...desk.id ? {id: desk.id} : {}, ...request()});
}

// a record that was saved with another text may keep its labels, or get those that are suggested
async function askBasis(saved, answer) {
  const suggested = fitting(answer);
  if (idsOf(byId(saved.labels)) === idsOf(byId(suggested))) return "saved";
  const taken = await compare(say("ask other text", {id: desk.id}), saved, "suggested", suggested);
  return taken === "stay" ? "saved" : taken;
}

// one feature and its value per line
function featuresOf(text) {
  const features = {};
  for (const line of text.split("\n").filter((each) => each.trim())) {
    const [, feature, value] = line.trim().match(/^(.*?)(?:[\s:=]+([-+]?[\d.]+(?:e[-+]?\d+)?))?$/i);
    features[feature] = value === undefined ? 1 : Number(value);
  }
  return features;
}

// the button: labels of the record in the form, which may be another one than the one on the desk
async function find(note = "") {
  const content = form(), {text} = content;
  if (hasContent(desk, content)) return desk.answer ? again() : look(note);
  if (text && text === desk.text) {
    put(corrected(desk, content));
    return look(note);
  }
  if (!desk.text) return open({...content, id: desk.id}, note);
  if (!text.trim()) return await mayLeave() && open(content);
  await saving;
  const loses = wouldAsk();
  if (!loses && (!desk.id || desk.isSavedHere)) return open(content, note);
  const question = desk.id ? say("ask same", {id: desk.id}) : say("ask same unnamed");
  const answers = {another: say("another"), same: say("same"), stay: say("cancel")};
  const saveFirst = loses && isSavable() ? {save: say("save and another")} : {};
  const answer = await choose(question, loses ? say("ask same loses") : say("ask same why"), {...saveFirst, ...answers});
  if (answer === "another" || (answer === "save" && await save())) return open(content, note);
  if (answer === "same") {
    put(corrected(desk, content));
    return look(note);
  }
}

// the same text, with as many labels, and names in the language, that are asked for now
async function again() {
  if (looking) return;
  const mine = nextTurn(false);
  try {
    const answer = await predict();
    if (mine !== turn) return;
    put(foundAgain(desk, answer));
    if (explained) await explain(explained, false);
  } catch (error) {
    if (mine === turn) complain(error);
  }
}

// one of several answers to a question; to stay where it is closed
function choose(question, why, answers, details = []) {
  const dialog = by("question");
  if (dialog.open) return Promise.resolve("stay");
  by("question-title").textContent = question;
  by("question-why").textContent = why;
  by("question-details").replaceChildren(...details);
  by("answers").replaceChildren(...Object.entries(answers).map(([value, textContent], number) =>
    node("button", {value, textContent, className: number ? "quiet" : "primary"})));
  dialog.returnValue = "stay";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue), {once: true}));
}

function isSavable() {
  return Boolean(by("save") && desk.answer && !looking);
}

// whether something would be lost with the record on the desk that the service is to ask about
function wouldAsk() {
  const asks = by("save") ? document.documentElement.dataset.askToSave : "changed";
  return asks !== "never" && (asks === "changed" ? unsaved(desk) === "changed" : Boolean(unsaved(desk)));
}

// whether the record on the desk may be replaced by another one
async function mayLeave() {
  if (by("question").open) return false;
  await saving;
  if (!wouldAsk()) return true;
  const saveFirst = isSavable() ? {save: say("save and go on")} : {};
  const answer = await choose(say("ask leave"), say("ask leave why"), {...saveFirst, leave: say("leave"), stay: say("stay")});
  return answer === "save" ? save() : answer === "leave";
}

// a link may bring a record along: the part of an address behind # is never sent to a server
async function follow() {
  const address = location.hash, brought = new URLSearchParams(address.slice(1));
  if (address === desk.address) return;
  if (!await mayLeave()) return history.replaceState(null, "", desk.address || addressWithout());
  const beside = Object.fromEntries(brought);
  await open({text: brought.get("text") ?? "", id: brought.get("id")?.trim() ?? "", beside, address});
}

// how sure it is that the labels that fit are right
function fits(labels) {
  const n = labels.length;
  if (!n) return say("fit none");
  if (n === 1) return say("fit one", {sure: percent(labels[0].probability)});
  const right = Math.round(labels.reduce((sum, label) => sum + label.probability, 0));
  if (!right) return say("fit none right", {n});
  return say(right === n ? "fit all right" : "fit right", {n, right});
}

function showSummary() {
  by("status").textContent = desk.answer ? summary(desk.answer.predictions[0]) : "";
}

function summary(prediction) {
  const {labels, features, fit, doubts} = prediction;
  if (!labels.length) return say("no label");
  if (!features) return say(health.takes_text ? "unknown words" : "unknown features");
  const sentence = say("found", {n: labels.length, known: known(prediction)});
  if (!health.probabilities) return `${sentence} ${say("no probabilities")}`;
  if (doubts.length) return sentence;
  return `${sentence} ${fit > labels.length ? say("fit more", {n: fit}) : fits(labels.slice(0, fit))}`;
}

function known({features, words, known_words}) {
  if (!health.takes_text) return say("known features", {n: features});
  return say(known_words === words ? "known words" : "known words of", {n: known_words, of: words});
}

// why the labels are doubtful, and what follows
function doubts({features, words, known_words, language, doubts}) {
  // the summary says that the labels mean nothing
  if (!features || !doubts.length) return [];
  const trained = listed((health.trained_languages ?? []).map((code) => languageName(code, LANGUAGE)));
  const values = {n: words, known: known_words, language: language && languageName(language, LANGUAGE), trained};
  return [...doubts.map((doubt) => say(`doubt ${doubt}`, values)), say("doubtful")];
}

function showLabels() {
  const labels = labelsOf(desk.answer);
  const scores = labels.map((label) => label.score);
  const low = Math.min(0, ...scores) < 0 ? Math.min(-1, ...scores) : 0;
  const high = Math.max(1, ...scores);
  by("labels").replaceChildren(...labels.map((label) => {
    const probable = health.probabilities;
    const textContent = probable ? percent(label.probability) : signed(label.score);
    const figure = node("data", {value: label.score, textContent});
    return row(label, say(probable ? "probability" : "score"), figure, barOf((label.score - low) / (high - low)));
  }));
  by("copy").hidden = !labels.length;
}

// a label that is explained when it is clicked, and its tick
function row(label, title, ...figures) {
  const tick = node("input", {type: "checkbox", ariaLabel: say("choose", {name: label.name}), checked: desk.chosen.has(label.id)});
  tick.dataset.choose = label.id;
  tick.addEventListener("change", () => put(ticked(desk, label, tick.checked)));
  const button = node("button", {type: "button", className: "label", title}, titleOf(label), ...figures);
  button.dataset.label = label.id;
  button.addEventListener("click", () => explain(label, true));
  return node("li", {className: "row"}, tick, button);
}

function choice(label, figure, title) {
  return row(label, title, node("data", {textContent: figure}));
}

function showChosen() {
  const labels = [...desk.chosen.values()], own = ownSaved(desk), removed = own ? changes(desk, own.labels).removed : [];
  by("chosen-part").hidden = !labels.length && !(by("save") && desk.text);
  by("chosen").replaceChildren(...labels.map((label) => chosenRow(label, own)), ...removed.map(removedRow));
  for (const tick of document.querySelectorAll("[data-choose]")) tick.checked = desk.chosen.has(Number(tick.dataset.choose));
  showSaving();
}

// marked as long as it is not saved
function chosenRow(label, own) {
  const remove = node("button", {type: "button", className: "quiet", textContent: "×", ariaLabel: say("remove", {name: label.name})});
  remove.addEventListener("click", () => put(ticked(desk, label, false)));
  if (!by("save") || own?.labels.some((each) => each.id === label.id)) return node("li", {}, linkOf(label), remove);
  return node("li", {className: "unsaved"}, node("span", {}, linkOf(label), remarkOn("not yet saved")), remove);
}

// a saved label that was taken back
function removedRow(label) {
  const restore = node("button", {type: "button", className: "quiet", textContent: "↶", ariaLabel: say("choose", {name: label.name})});
  restore.addEventListener("click", () => put(ticked(desk, label, true)));
  return node("li", {className: "unsaved removed"}, node("span", {}, node("s", {}, nameOf(label)), remarkOn("taken back")), restore);
}

function remarkOn(key) {
  return node("span", {className: "notation", textContent: say(key)});
}

async function explain(label, move) {
  const mine = turn, {text} = desk;
  explained = label;
  for (const button of document.querySelectorAll("button.label[data-label]")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.label) === label.id));
  }
  const current = () => mine === turn && explained === label;
  const instance = health.takes_text ? request() : {features: featuresOf(text)};
  const asked = {...instance, labels: [label.id], words: MOST_WORDS, language: labelLanguage()};
  try {
    const [reasons, described] = await Promise.all([
      desk.answer && health.explanations ? post("explain", asked).catch(() => null) : null,
      ask(`labels/${label.id}${labelLanguage() ? `?language=${encodeURIComponent(labelLanguage())}` : ""}`),
    ]);
    if (!current()) return;
    describe(described, reasons && reasons.labels[0], health.takes_text ? text : "", health);
    complain(null);
    if (move) {
      by("why").focus({preventScroll: true});
      by("why").scrollIntoView({block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth"});
    }
  } catch (error) {
    if (current()) complain(error);
  }
}

let waiting;

function search() {
  clearTimeout(waiting);
  waiting = setTimeout(() => searchOn([]), 150);
}

// the labels of a search that come after those that are shown
async function searchOn(shown) {
  const query = by("search").value;
  if (!query.trim()) {
    showFound([], 0);
    by("found-note").textContent = "";
    return;
  }
  try {
    const words = new URLSearchParams({limit: 12, offset: shown.length, search: query});
    if (labelLanguage()) words.set("language", labelLanguage());
    const page = await ask(`labels?${words}`);
    if (query !== by("search").value) return;
    showFound([...shown, ...page.labels], page.total);
    if (shown.length) by("found").children[shown.length]?.querySelector("button").focus();
  } catch (error) {
    by("found-note").textContent = error.message;
  }
}

function showFound(labels, total) {
  const shown = labels.length, sentence = total > shown ? "found labels of" : "found labels";
  by("found-note").textContent = say(total ? sentence : "found none", {n: total, shown});
  by("found").replaceChildren(...labels.map((label) => {
    const item = choice(label, counted(label.positives), say("training examples"));
    if (label.found_by) {
      const textContent = say("found by", {name: label.found_by});
      item.querySelector("button span").append(node("span", {className: "notation", dir: "auto", textContent}));
    }
    return item;
  }));
  by("found-more").hidden = total <= shown;
  by("found-more").onclick = () => searchOn(labels);
}

// a file that is dropped or chosen becomes the text in the box, as if it were pasted
async function read(file) {
  const name = file.name, mine = nextTurn(false);
  by("status").textContent = say("reading", {name});
  try {
    const read = await ask(`texts?${new URLSearchParams({name})}`, file, "application/octet-stream");
    if (mine !== turn) return;
    by("text").value = read.text;
    const notes = [read.pages > read.pages_read && say("file pages", {name, n: read.pages_read, of: read.pages})];
    notes.push(read.cut && say("file cut", {name, n: form().text.length}));
    await find(notes.filter(Boolean).join(" "));
  } catch (error) {
    const reason = error.code ? say(`file ${error.code}`) : error.message;
    if (mine === turn) complain(new Error(say("unread file", {name, reason})));
  }
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
  button.textContent = say("copied");
  setTimeout(() => { button.textContent = button.dataset.text; }, 1500);
}

// lines to paste; MARC 650 has the subject in $a, as the authority calls it, the vocabulary in $2 and the URI in $0
const LINES = {
  names: (label) => label.name,
  uris: (label) => label.uri,
  marc: async (label) => {
    const {name} = labelLanguage() ? (await ask(`labels/${label.id}`)).label : label;
    const source = document.documentElement.dataset.marcSource || health.vocabulary;
    return label.uri && source ? `650 #7 $a ${name} $2 ${source} $0 ${label.uri}` : `650 #4 $a ${name}`;
  },
};

async function copyChosen(button) {
  try {
    const lines = await Promise.all([...desk.chosen.values()].map(LINES[button.dataset.copy]));
    await copy(button, lines.join("\n"));
  } catch (error) {
    complain(error);
  }
}

function offerLanguages(codes) {
  if (codes.length < 2) return;
  by("language").replaceChildren(...codes.map((code) => node("option", {value: code, textContent: languageName(code)})));
  const asked = new URLSearchParams(location.search).has("lang") ? [LANGUAGE] : [];
  const preferred = [...asked, ...navigator.languages, LANGUAGE].map((each) => codes.find((code) => code === each || code === each.split("-")[0]));
  by("language").value = preferred.find(Boolean) ?? codes[0];
  by("language").addEventListener("change", () => { if (desk.answer) again(); });
  by("language-part").hidden = false;
}

function sayWhatIsUsual() {
  const plain = new Intl.NumberFormat(LANGUAGE, {useGrouping: false, maximumSignificantDigits: 6});
  for (const field of FIELDS.filter((each) => each.dataset.least)) {
    const {least, most} = field.dataset;
    by(field.getAttribute("aria-describedby")).textContent = say("usual", {least: plain.format(least), most: plain.format(most)});
  }
}

function introduce(answer) {
  health = answer;
  offerLanguages(health.languages);
  document.querySelector("[data-copy=uris]").hidden = !health.vocabulary;
  by("about").textContent = say(health.takes_text ? "about texts" : "about features", {n: health.labels});
  by("model").textContent = say("model", {model: health.model, method: health.method, n: health.features});
  if (/^Mac/.test(navigator.platform)) by("control").textContent = "⌘";
  if (!health.takes_text) {
    by("title").textContent = say("page title of features");
    by("text-label").textContent = say("features");
    by("text").placeholder = say("features example");
    by("file-part").hidden = true;
  }
  const example = health.takes_text ? '{"text": "How to train a dragon", "top_k": 3}' : '{"features": [{"0": 1.5}], "top_k": 3}';
  const base = new URL(".", location.href).href;
  const line = (path, body) => `curl ${base}${path} --json '${body}'`;
  by("curl").textContent = [line("predict", example), line("explain", example.replace("[{", "{").replace("}]", "}")),
    `curl '${base}labels?search=word'`].join("\n\n");
}

// people may ask before the model has said what it is
const introduced = ask("health").then(introduce);

function listen() {
  by("form").addEventListener("submit", (event) => { event.preventDefault(); find(); });
  by("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !looking) by("form").requestSubmit();
  });
  by("form").addEventListener("input", showSaving);
  by("top-k").addEventListener("change", () => { if (desk.answer) again(); });
  by("search").addEventListener("input", search);
  by("copy").addEventListener("click", () => copy(by("copy"), JSON.stringify(desk.answer, null, 2)));
  by("clear").addEventListener("click", () => { for (const label of [...desk.chosen.values()]) put(ticked(desk, label, false)); });
  for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copyChosen(button));
  if (by("save")) {
    by("save").addEventListener("submit", (event) => { event.preventDefault(); save(); });
    by("record").addEventListener("change", call);
    by("corrections-part").addEventListener("toggle", showCorrections);
    by("since").addEventListener("change", showCorrections);
  }
  by("page-language").addEventListener("change", () => {
    const {text, beside} = form();
    const address = desk.text ? `#${new URLSearchParams({...given(beside), ...desk.id && {id: desk.id}, text})}` : location.hash;
    isSwitching = true;
    location.assign(`?${new URLSearchParams({lang: by("page-language").value})}${address}`);
    // for who stays, to save first
    by("page-language").value = LANGUAGE;
  });
  window.addEventListener("hashchange", follow);
  window.addEventListener("beforeunload", (event) => {
    // another language asks for the same record again
    if (isSwitching ? unsaved(desk) === "changed" : wouldAsk()) event.preventDefault();
    isSwitching = false;
  });
  by("file").addEventListener("change", () => {
    if (by("file").files.length) read(by("file").files[0]);
    by("file").value = "";
  });
  const carriesFile = (event) => event.dataTransfer?.types.includes("Files") && health?.takes_text;
  document.addEventListener("dragover", (event) => {
    if (!carriesFile(event)) return;
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
  document.addEventListener("drop", (event) => {
    document.body.classList.remove("dropping");
    if (!carriesFile(event)) return;
    event.preventDefault();
    read(event.dataTransfer.files[0]);
  });
}

async function begin() {
  listen();
  sayWhatIsUsual();
  try {
    await introduced;
  } catch (error) {
    by("about").textContent = "";
    complain(error);
    return;
  }
  if (location.hash) await follow();
}

begin();
