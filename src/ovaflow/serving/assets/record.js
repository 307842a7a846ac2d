// The record on the desk: its text, its id, what was found, and what a person chose. It is never changed in
// part: whatever happens to it makes another one, which takes its place whole.
const NOTHING = Object.freeze({
  key: null, // which record it is, whatever happens to it
  text: "", id: "", address: "",
  columns: null, // the text by its columns, where it came so
  beside: Object.freeze({}), // what the model reads beside the text, by column; null where there is nothing
  answer: null,
  chosen: new Map(), // labels by id
  byHand: new Map(), // of the labels that a person ticked or took back, which are ticked
  before: "", // ids of what was chosen before anything was by hand, or saved last
  correction: null, // what the file of corrections has of it
  savedHere: false, // with this text, since the page was opened
});

// a record before its labels are found
function opened({text, id = "", columns = null, beside = {}, address = ""}) {
  return Object.freeze({...NOTHING, key: Symbol("record"), text, id, columns, beside, address});
}

// a saved record as it is opened: its other columns are separate from its text
function broughtBack({text, columns}, namesBeside) {
  const parts = Object.entries(columns ?? {}), isBeside = ([name]) => namesBeside.includes(name);
  const texts = parts.filter((part) => !isBeside(part));
  const beside = Object.fromEntries(parts.filter(isBeside));
  return {text, columns: texts.length > 1 ? Object.fromEntries(texts) : null, beside};
}

// a record with what the model says of it, and what was saved of it
function found(record, answer, correction) {
  const mine = correction ?? record.correction;
  const chosen = new Map((mine ? mine.labels : fitting(answer)).map((label) => [label.id, label]));
  const before = idsOf(chosen);
  const names = new Map([...labelsOf(answer), ...record.chosen.values()].map((label) => [label.id, label]));
  for (const [id, ticked] of record.byHand) {
    if (ticked) chosen.set(id, names.get(id));
    else chosen.delete(id);
  }
  const same = correction && correction.text === record.text ? correction : null;
  const id = record.id || (same ? named(same) : "");
  const columns = record.columns ?? (same && broughtBack(same, Object.keys(record.beside)).columns);
  return Object.freeze({...record, answer, chosen, before, correction: mine, id, columns});
}

// the same text asked again, such as for more labels or with other names: what is chosen stays
function foundAgain(record, answer) {
  const names = new Map(labelsOf(answer).map((label) => [label.id, label]));
  const chosen = new Map([...record.chosen].map(([id, label]) => [id, names.get(id) ?? label]));
  return Object.freeze({...record, answer, chosen});
}

// the same record with other content, its text and what is beside it: its own labels, and what a person chose, stay
function corrected(record, {text, beside}) {
  const columns = text === record.text ? record.columns : null;
  return Object.freeze({...record, text, columns, beside, answer: null, savedHere: false});
}

function ticked(record, label, is) {
  const chosen = new Map(record.chosen), byHand = new Map(record.byHand).set(label.id, is);
  if (is) chosen.set(label.id, label);
  else chosen.delete(label.id);
  return Object.freeze({...record, chosen, byHand});
}

function called(record, id) {
  return Object.freeze({...record, id});
}

function saved(record, sent, reply) {
  const labels = [...sent.chosen.values()];
  const times = (reply.replaces && record.correction ? record.correction.times : 0) + 1;
  const correction = {id: reply.id, text: sent.text, labels, unknown: [], time: reply.time, times};
  const byHand = new Map([...record.byHand].filter(([id, is]) => sent.chosen.has(id) !== is));
  return Object.freeze({...record, correction, before: idsOf(sent.chosen), byHand, savedHere: hasContent(record, sent)});
}

// whether a person chose something that is not saved
function unsaved(record) {
  return idsOf(record.chosen) !== record.before;
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

// whether a text comes alone that was saved with something beside it, and is asked for the first time
function isSavedWithMore(record, saved) {
  return Boolean(saved) && !record.correction && saved.text === record.text && hasBeside(record, {}) && !hasBeside(record, saved.beside);
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

function idsOf(chosen) {
  return [...chosen.keys()].sort((a, b) => a - b).join(" ");
}

// the id that a person gave; records without one are called after their text
function named(correction) {
  return correction.id.startsWith("text:") ? "" : correction.id;
}
