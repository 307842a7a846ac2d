// The record on the desk: its text, its id, what was found, what a person chose, and what is saved of it. It is never changed
// in part: whatever happens to it makes another one, which takes its place whole.
const NOTHING = Object.freeze({
  key: null, // which record it is, whatever happens to it
  text: "", id: "", address: "",
  columns: null, // the text by its columns, where it came so
  beside: Object.freeze({}), // what the model reads beside the text, by column; null where there is nothing
  answer: null, // what the model says; its labels that fit are suggested
  chosen: new Map(), // labels by id
  byHand: new Map(), // of the labels that a person ticked or took back, which are ticked
  basis: null, // which labels it starts with: "saved", "suggested" or "both" together
  start: "", // ids of what was chosen before anything was by hand
  saved: undefined, // what is saved of it, or of its text, as far as the page knows; null: nothing, undefined: not asked yet
  taken: null, // what is saved of the id that a person gave it
  isEdited: false, // whether a person changed its text, or what is beside it
  isSavedHere: false, // with this content, since the page was opened
});

// a record before its labels are found
function opened({text, id = "", columns = null, beside = {}, address = ""}) {
  return Object.freeze({...NOTHING, key: Symbol("record"), text, id, columns, beside, address});
}

// a correction of the service, with the content of a record: its other columns are separate from its text
function savedRecord(correction, namesBeside) {
  const parts = Object.entries(correction.columns ?? {}), isBeside = ([name]) => namesBeside.includes(name);
  const texts = parts.filter((part) => !isBeside(part));
  const columns = texts.length > 1 ? Object.fromEntries(texts) : null;
  return Object.freeze({...correction, columns, beside: Object.fromEntries(parts.filter(isBeside))});
}

// a record with what the model says of it, and what is saved of it
function found(record, answer, saved, basis = record.basis ?? (saved ? "saved" : "suggested")) {
  const chosen = byId([...basis === "suggested" ? [] : saved.labels, ...basis === "saved" ? [] : fitting(answer)]);
  const start = idsOf(chosen);
  const names = byId([...labelsOf(answer), ...record.chosen.values()]);
  for (const [id, isTicked] of record.byHand) {
    if (isTicked) chosen.set(id, names.get(id));
    else chosen.delete(id);
  }
  const same = saved && saved.text === record.text ? saved : null;
  return Object.freeze({
    ...record, answer, chosen, basis, start, saved, id: record.id || (same ? named(same) : ""), columns: record.columns ?? same?.columns ?? null,
  });
}

// the same text asked again, such as for more labels or with other names: what is chosen stays
function foundAgain(record, answer) {
  const names = byId(labelsOf(answer));
  const chosen = new Map([...record.chosen].map(([id, label]) => [id, names.get(id) ?? label]));
  return Object.freeze({...record, answer, chosen});
}

// the same record with other content, its text and what is beside it: its own labels, and what a person chose, stay
function corrected(record, {text, beside}) {
  const columns = text === record.text ? record.columns : null;
  return Object.freeze({...record, text, columns, beside, answer: null, isEdited: true, isSavedHere: false});
}

function ticked(record, label, is) {
  const chosen = new Map(record.chosen), byHand = new Map(record.byHand).set(label.id, is);
  if (is) chosen.set(label.id, label);
  else chosen.delete(label.id);
  return Object.freeze({...record, chosen, byHand});
}

function called(record, id) {
  return Object.freeze({...record, id, taken: null});
}

// a record of which another person saved something meanwhile, with labels chosen in view of that
function informed(record, saved, labels) {
  const next = {...record, saved, taken: null, basis: "saved", chosen: byId(labels), start: idsOf(byId(saved.labels))};
  const {added, removed} = changes(next, saved.labels);
  const byHand = new Map([...added.map((label) => [label.id, true]), ...removed.map((label) => [label.id, false])]);
  return Object.freeze({...next, byHand});
}

// a record of whose id something else is saved
function withTakenId(record, taken) {
  return Object.freeze({...record, taken});
}

function afterSaving(record, sent, {id, time, version}) {
  const {text, columns, beside} = sent, labels = [...sent.chosen.values()];
  const saved = Object.freeze({id, time, version, text, columns, beside, labels, unknown: []});
  const byHand = new Map([...record.byHand].filter(([label, isTicked]) => sent.chosen.has(label) !== isTicked));
  const isSavedHere = hasContent(record, sent);
  return Object.freeze({...record, saved, taken: null, basis: "saved", start: idsOf(sent.chosen), byHand, isEdited: !isSavedHere, isSavedHere});
}

// what is saved under the record's own id; a record without one is called after its content
function ownSaved(record) {
  const {saved} = record;
  if (!saved) return null;
  return (record.id ? saved.id === record.id : !named(saved) && hasContent(record, saved)) ? saved : null;
}

// how chosen labels, and a content, differ from others
function changes(record, labels, content = record) {
  const ids = new Set(labels.map((label) => label.id));
  return {
    added: [...record.chosen.values()].filter((label) => !ids.has(label.id)),
    removed: labels.filter((label) => !record.chosen.has(label.id)),
    text: record.text !== content.text,
    beside: !hasBeside(record, content.beside),
  };
}

function areNone({added, removed, text, beside}) {
  return !added.length && !removed.length && !text && !beside;
}

function isSaved(record) {
  const own = ownSaved(record);
  return Boolean(own) && areNone(changes(record, own.labels, own));
}

// what is lost when a record is left: nothing (""), what came by itself ("suggested"), or what a person did ("changed")
function unsaved(record) {
  if (isSaved(record)) return "";
  const own = ownSaved(record);
  if (idsOf(record.chosen) !== record.start || (own && record.isEdited)) return "changed";
  return record.chosen.size || own ? "suggested" : "";
}

// whether a record has a text and what is beside it
function hasContent(record, {text, beside}) {
  return record.text === text && hasBeside(record, beside);
}

function hasBeside(record, beside) {
  return JSON.stringify(given(record.beside)) === JSON.stringify(given(beside));
}

// what there is beside a text
function given(beside) {
  return Object.fromEntries(Object.entries(beside).filter(([, value]) => value !== null));
}

// whether a text comes alone that was saved with something beside it
function isSavedWithMore(record, saved) {
  return saved.text === record.text && hasBeside(record, {}) && !hasBeside(record, saved.beside);
}

// whether labels were saved for another text than the one that comes with the same id
function isSavedWithOther(record, saved) {
  return Boolean(record.id) && saved.id === record.id && !hasContent(record, saved);
}

// why a record cannot be saved, or nothing: Save saves the content of the form
function hindrance(record, form, looking) {
  if (looking) return "not saved: looking";
  if (form.text !== record.text) return "not saved: changed";
  if (!hasBeside(record, form.beside)) return "not saved: beside";
  return record.answer ? "" : "not saved: failed";
}

// how a record is sent to a model whose texts have these columns
function requestOf(record, textColumns) {
  if (!Object.keys(record.beside).length) return {text: record.columns ?? record.text};
  const [first, ...others] = textColumns;
  const texts = record.columns ?? {[first]: record.text, ...Object.fromEntries(others.map((name) => [name, ""]))};
  return {text: {...texts, ...record.beside}};
}

function labelsOf(answer) {
  return answer ? answer.predictions[0].labels : [];
}

// the labels that the page ticks: those that fit, unless it is doubtful that the model understands the text
function fitting(answer) {
  const {labels, features, fit, doubts} = answer.predictions[0];
  return features && !doubts?.length ? labels.slice(0, fit ?? 0) : [];
}

function byId(labels) {
  return new Map(labels.map((label) => [label.id, label]));
}

function idsOf(chosen) {
  return [...chosen.keys()].sort((a, b) => a - b).join(" ");
}

// the id that a person gave; records without one are called after their text
function named(correction) {
  return correction.id.startsWith("text:") ? "" : correction.id;
}
