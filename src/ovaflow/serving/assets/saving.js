// Saving what is on the desk, and what was saved before.
const WEEK = 7 * 24 * 3600 * 1000;
let said = 0;

async function correctionOf(record) {
  return (await post("corrections/find", {...record, language: labelLanguage()})).correction;
}

// what Save would do, and what it has done
function showSaving() {
  by("go").disabled = looking;
  if (!by("save")) return;
  const reason = hindrance(desk, form(), looking);
  by("save-button").disabled = Boolean(reason);
  by("hindrance").textContent = reason && desk.text ? say(reason) : "";
  const {correction} = desk;
  let sentence = "";
  if (correction) {
    const values = {time: moment(correction.time), id: correction.id};
    sentence = say(named(correction) && correction.id !== desk.id ? "yours as" : "yours", values);
    if (correction.times > 1) sentence += ` (${say("times", {n: correction.times})})`;
    if (correction.unknown.length) sentence += ` ${say("unknown labels", {names: listed(correction.unknown)})}`;
  }
  by("yours").textContent = sentence;
}

function report(message, failed = false) {
  if (!by("save")) return;
  said += 1;
  by("saved").textContent = message;
  by("saved").className = failed ? "error" : "note";
}

async function save() {
  const sent = desk;
  if (hindrance(sent, form(), looking)) return showSaving();
  const correction = {...request(), labels: [...sent.chosen.keys()], suggested: labelsOf(sent.answer).map((label) => label.id)};
  if (sent.id) correction.id = sent.id;
  report(say("saving"));
  try {
    const reply = await post("corrections", correction);
    // another record may be on the desk by now
    if (desk.key === sent.key) put(saved(desk, sent, reply));
    const sentence = sent.chosen.size ? say("saved", {n: sent.chosen.size}) : say("saved without labels");
    report(reply.replaces ? `${sentence} ${say("replaces", {time: moment(reply.replaces)})}` : sentence);
    await showCorrections();
  } catch (error) {
    report(error.message, true);
  }
}

// a person gives a record its id: perhaps that of one that was saved
async function call() {
  put(called(desk, by("record").value.trim()));
  report("");
  const {id} = desk, before = said;
  if (!id || id === desk.correction?.id) return;
  try {
    const correction = await correctionOf({id});
    if (!correction || said !== before) return;
    const names = correction.labels.length ? listed(correction.labels.map((label) => label.name)) : say("no labels");
    report(say("would replace", {id, time: moment(correction.time), names}));
  } catch (error) {
    report(error.message, true);
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
    await open({...restored(correction), id, address});
    by("form").scrollIntoView();
  });
  return node("li", {}, button);
}
