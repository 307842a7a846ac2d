// Saving what is on the desk, and what was saved before.
const WEEK = 7 * 24 * 3600 * 1000;
const LONGEST_QUOTE = 500; // characters
const TITLE = document.title;
let saving = null; // the save in progress

// what is saved of a record, found by its id or else its text
async function savedOf(record) {
  const {correction} = await post("corrections/find", {...record, language: labelLanguage()});
  return correction && savedRecord(correction, namesBeside());
}

// what is saved, what differs from it, and what Save would do
function showSaving() {
  by("go").disabled = looking;
  if (!by("save")) return;
  const reason = hindrance(desk, form(), looking);
  by("save-button").disabled = Boolean(reason || saving) || isSaved(desk);
  by("hindrance").textContent = reason && desk.text ? say(reason) : "";
  by("state").textContent = desk.answer ? stateOf(desk).join(" ") : "";
  by("state").className = unsaved(desk) ? "" : "note";
  document.title = (unsaved(desk) ? "• " : "") + TITLE;
}

function stateOf(record) {
  if (saving) return [say("saving")];
  const own = ownSaved(record), {saved, taken} = record, sentences = [];
  if (isSaved(record)) sentences.push(say("saved", {time: moment(own.time)}));
  else if (own) sentences.push(say("changed", {time: moment(own.time), changes: inWords(changes(record, own.labels, own))}));
  else sentences.push(say("unsaved"));
  if (own?.unknown.length) sentences.push(say("unknown labels", {names: listed(own.unknown)}));
  if (saved && !own && named(saved) && saved.text === record.text) sentences.push(say("labels of other", {id: saved.id}));
  if (taken) sentences.push(say("taken", {id: taken.id, time: moment(taken.time), names: namesOf(taken)}));
  const others = changes(record, fitting(record.answer));
  if (health.probabilities && !areNone(others)) sentences.push(say("others suggested", {changes: inWords(others)}));
  return sentences;
}

function inWords({added, removed, text, beside}) {
  const words = [
    added.length && say("change added", {n: added.length}), removed.length && say("change removed", {n: removed.length}),
    text && say("change text"), beside && say("change beside"),
  ];
  return listed(words.filter(Boolean));
}

function namesOf(saved) {
  const names = [...saved.labels.map((label) => label.name), ...saved.unknown];
  return names.length ? listed(names) : say("no labels");
}

function reportFailure(message) {
  by("save-error").textContent = message;
}

// whether the record on the desk is saved, in the end
function save() {
  saving ??= send().finally(() => {
    saving = null;
    showSaving();
  });
  showSaving();
  return saving;
}

async function send() {
  const sent = desk, {id} = sent;
  reportFailure("");
  const suggested = labelsOf(sent.answer).map((label) => label.id), version = ownSaved(sent)?.version ?? "";
  const correction = {...request(), labels: [...sent.chosen.keys()], suggested, version, language: labelLanguage()};
  try {
    put(afterSaving(desk, sent, await post("corrections", id ? {...correction, id} : correction)));
    showCorrections();
    return true;
  } catch (error) {
    if (error.code === "stale") return settle(savedRecord(error.correction, namesBeside()));
    reportFailure(error.message);
    return false;
  }
}

// somebody else saved the record meanwhile: the person decides whose labels are saved
async function settle(theirs) {
  const yours = [...desk.chosen.values()], title = desk.id ? say("ask stale", {id: desk.id}) : say("ask stale unnamed");
  const isSame = areNone(changes(desk, theirs.labels, theirs));
  const answer = isSame ? "saved" : await compare(title, theirs, "yours", yours);
  put(informed(desk, theirs, combined(answer, theirs.labels, yours)));
  if (answer === "stay") return false;
  return isSaved(desk) || send();
}

function combined(answer, theirs, yours) {
  if (answer === "both") return [...theirs, ...yours];
  return answer === "saved" ? theirs : yours;
}

// ask which of two sets of labels to take: the saved ones, or others, which are "yours" or "suggested"
function compare(title, saved, kind, others) {
  const theirs = byId(saved.labels), yours = byId(others);
  const parts = {
    "only saved": saved.labels.filter((label) => !yours.has(label.id)),
    [`only ${kind}`]: others.filter((label) => !theirs.has(label.id)),
    "in both": others.filter((label) => theirs.has(label.id)),
  };
  const answers = {saved: say("take saved"), [kind]: say(`take ${kind}`), both: say("take both"), ...kind === "yours" && {stay: say("cancel")}};
  const lists = Object.entries(parts).filter(([, labels]) => labels.length).map(([key, labels]) =>
    node("div", {}, node("h3", {textContent: say(key)}), node("ul", {className: "near"}, ...labels.map((label) => node("li", {}, titleOf(label))))));
  const text = saved.text === desk.text ? [] : [node("blockquote", {dir: "auto", textContent: shortened(saved.text)})];
  return choose(title, say("ask which", {time: moment(saved.time)}), answers, [...text, node("div", {className: "columns"}, ...lists)]);
}

function shortened(text) {
  return text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)} …` : text;
}

// a person gives a record its id: perhaps that of one that is saved
async function call() {
  put(called(desk, by("record").value.trim()));
  const {id, key} = desk;
  if (!id || !desk.answer || ownSaved(desk)) return;
  try {
    const taken = await savedOf({id});
    if (desk.key === key && desk.id === id && !ownSaved(desk)) put(withTakenId(desk, taken));
  } catch (error) {
    reportFailure(error.message);
  }
}

async function showCorrections() {
  if (!by("corrections-part").open) return;
  const since = {today: new Date().setHours(0, 0, 0, 0), week: Date.now() - WEEK}[by("since").value];
  const words = new URLSearchParams({limit: by("corrections-part").dataset.limit});
  if (since) words.set("since", new Date(since).toISOString());
  if (labelLanguage()) words.set("language", labelLanguage());
  try {
    const page = await ask(`corrections?${words}`);
    const shown = page.corrections.length;
    const sentence = page.total > shown ? say("corrections of", {n: page.total, shown}) : say("corrections some", {n: page.total});
    by("corrections-note").textContent = page.total ? sentence : say("corrections none");
    by("corrections").replaceChildren(...page.corrections.map(entry));
  } catch (error) {
    by("corrections-note").textContent = error.message;
  }
}

// a saved record, which a click brings back to the desk
function entry(correction) {
  const id = named(correction), names = correction.labels.map((label) => label.name);
  const times = correction.times > 1 ? [say("times", {n: correction.times})] : [];
  const note = [moment(correction.time), ...times, names.length ? listed(names) : say("no labels")].join("; ");
  const button = node("button", {type: "button", className: "label"},
    node("span", {}, ...(id ? [node("b", {dir: "auto", textContent: id}), " "] : []), node("bdi", {textContent: correction.text.slice(0, 120)})),
    node("span", {className: "note", dir: "auto", textContent: note}));
  button.addEventListener("click", async () => {
    if (!await mayLeave()) return;
    const address = id ? `#${new URLSearchParams({id})}` : "";
    await open({...savedRecord(correction, namesBeside()), id, address});
    by("form").scrollIntoView();
  });
  return node("li", {}, button);
}
