// SPDX-License-Identifier: Apache-2.0

import { conditions, number, rate, time } from "./words.js";

/** The results as files. */

/** The names that the page has for them. */
const columns = { run: "run", strategy: "strategy", family: "family", expectation: "expectation", verdict: "outcome",
	instances: "instances", users: "customers", stock: "pieces", fault: "fault", struck: "fault reached", byHand: "by hand",
	requests: "requests", sold: "sold", oversold: "oversold", soldTwice: "sold more than once", lost: "lost updates",
	perSecond: "requests/s", p50: "p50 ms", p99: "p99 ms", busy: "turned away", refused: "late owners refused", failed: "failed",
	seconds: "seconds", sentence: "sentence" };

export function toCsv(results) {
	return [Object.values(columns), ...results.map((result) => Object.keys(columns).map((column) => result[column]))]
		.map((values) => `${values.map(csvValue).join(",")}\r\n`).join("");
}

function csvValue(value) {
	const text = Array.isArray(value) ? value.join("; ") : String(value ?? "");
	return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const head = ["strategy", "outcome", "sold", "oversold", "lost updates", "requests/s", "p50", "p99", "turned away",
	"late owners refused", "failed", "conditions"];

/** The texts of a table, with its head. */
export function table(results) {
	return [head, ...results.map((result) => [result.strategy, result.verdict, number(result.sold), number(result.oversold),
		number(result.lost), rate(result.perSecond), time(result.p50), time(result.p99), number(result.busy),
		number(result.refused), number(result.failed), conditions(result)])];
}

/** Whether a column of the table has numbers. */
export function numeric(column) {
	return column > 1 && column < head.length - 1;
}

export function toMarkdown(results) {
	const [, ...lines] = table(results);
	const rule = head.map((_, column) => (numeric(column) ? "---:" : "---"));
	return [head, rule, ...lines.map(([strategy, ...others]) => [`\`${strategy}\``, ...others])]
		.map((cells) => `| ${cells.map(markdownValue).join(" | ")} |\n`).join("");
}

function markdownValue(value) {
	return String(value).replaceAll("|", "\\|").replace(/\s+/g, " ");
}

export function save(name, content, type) {
	const blob = content instanceof Blob ? content : new Blob([content], { type });
	const link = document.createElement("a");
	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	// The browser still reads it when click() has returned
	setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
