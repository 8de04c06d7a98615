// SPDX-License-Identifier: Apache-2.0

import { conditions, number, rate, time } from "./words.js";

/** The results as files. */

const columns = ["run", "strategy", "family", "expectation", "verdict", "instances", "users", "stock", "fault", "requests", "sold",
	"oversold", "soldTwice", "lost", "perSecond", "p50", "p99", "busy", "refused", "failed", "seconds", "sentence"];

export function toCsv(results) {
	return [columns, ...results.map((result) => columns.map((column) => result[column]))]
		.map((values) => `${values.map(csvValue).join(",")}\r\n`).join("");
}

function csvValue(value) {
	const text = String(value ?? "");
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
