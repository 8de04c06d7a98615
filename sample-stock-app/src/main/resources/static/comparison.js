// SPDX-License-Identifier: Apache-2.0

import { numeric, save, table, toCsv, toMarkdown } from "./download.js";
import { repeating, toLink } from "./link.js";
import { conditions, number, rate, time, verdict } from "./words.js";

/** The table and the chart that compare the results of this visit, which a reload does not end. */

const results = [];

/** Where the browser keeps them until its tab is closed. */
const kept = "lab.results";

const measures = {
	sold: {
		stacked: true,
		axis: "pieces sold",
		sets: [{ label: "pieces that exist", colour: "--sold", value: (result) => result.sold - result.oversold },
			{ label: "oversold", colour: "--twice", value: (result) => result.oversold }],
		text: (result) => number(result.sold) + (result.oversold ? ` (+${number(result.oversold)})` : ""),
	},
	perSecond: {
		axis: "requests per second",
		sets: [{ label: "requests per second", colour: "--sold", value: (result) => result.perSecond }],
		text: (result) => number(result.perSecond),
	},
	latency: {
		axis: "milliseconds",
		sets: [{ label: "p50", colour: "--sold", value: (result) => result.p50 },
			{ label: "p99", colour: "--edge", value: (result) => result.p99 }],
		text: (result) => `${time(result.p50)}, ${time(result.p99)}`,
	},
};

let chart;

document.getElementById("csv").addEventListener("click", () => save("lab.csv", toCsv(results), "text/csv"));

document.getElementById("markdown").addEventListener("click", () => save("lab.md", toMarkdown(results), "text/markdown"));

document.getElementById("png").addEventListener("click", savePicture);

document.querySelectorAll("[name=measure]").forEach((input) => input.addEventListener("change", draw));

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

document.getElementById("forget").addEventListener("click", () => {
	results.length = 0;
	keep();
	document.getElementById("rows").replaceChildren();
	document.getElementById("comparison").hidden = true;
	document.getElementById("run").focus();
});

/** Adds a result, unless it is known from before the page was loaded again; its link repeats its run. */
export function addResult(result, { id, request }) {
	const known = results.filter((other) => other.id === id);
	if (!known.some(({ strategy }) => strategy === result.strategy)) {
		const run = known[0]?.run ?? (results.at(-1)?.run ?? 0) + 1;
		show([{ ...result, id, request, run }]);
		keep();
	}
}

function show(added) {
	document.getElementById("rows").append(...added.map(row));
	results.push(...added);
	document.getElementById("comparison").hidden = !results.length;
	document.getElementById("repeat").href = toLink(...repeating(results));
	draw();
}

function keep() {
	try {
		sessionStorage.setItem(kept, JSON.stringify(results));
	}
	catch {
		// Not in this browser
	}
}

function restore() {
	try {
		show(JSON.parse(sessionStorage.getItem(kept)) ?? []);
	}
	catch {
		// Not in this browser
	}
}

function row({ run, request, ...result }) {
	const line = document.createElement("tr");
	const name = document.createElement("th");
	name.scope = "row";
	name.textContent = result.strategy;
	const outcome = cell(verdict(result), `outcome ${result.verdict}`);
	outcome.title = result.sentence;
	const circumstances = cell(`${conditions(result)} · `, "conditions");
	const link = document.createElement("a");
	link.href = toLink(request);
	link.textContent = `choose run ${run} again`;
	link.setAttribute("aria-label", `Choose run ${run} again: ${request.strategies.join(", ")}`);
	circumstances.append(link);
	line.append(name, outcome, cell(number(result.sold), "number"), grave(result.oversold), grave(result.lost),
		cell(rate(result.perSecond), "number"), cell(time(result.p50), "number"), cell(time(result.p99), "number"),
		cell(number(result.busy), "number"), cell(number(result.refused), "number"),
		cell(number(result.failed), "number"), circumstances);
	return line;
}

function grave(value) {
	return cell(number(value), value ? "number some" : "number");
}

function cell(text, className) {
	const data = document.createElement("td");
	data.className = className;
	data.textContent = text;
	return data;
}

function draw() {
	if (!results.length) {
		return;
	}
	const measure = measures[document.querySelector("[name=measure]:checked").value];
	const canvas = document.getElementById("chart");
	canvas.setAttribute("aria-label", `${measure.axis}: `
		+ results.map((result) => `${result.strategy} ${measure.text(result)}`).join("; "));
	document.getElementById("chart-box").style.height = `${results.length * (measure.stacked ? 42 : 52) + 90}px`;
	Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
	chart?.destroy();
	chart = new Chart(canvas, { type: "bar", data: data(measure), options: options(measure), plugins: [ground, texts(measure)] });
}

function data({ sets, stacked }) {
	return {
		labels: results.map(({ strategy, run }) => [strategy, `run ${run}`]),
		datasets: sets.map(({ label, colour, value }) => ({ label, data: results.map(value), backgroundColor: token(colour),
			borderRadius: 4, barPercentage: 0.7, ...(stacked && { stack: "all" }) })),
	};
}

function options({ axis, sets, stacked, text }) {
	const ticks = { color: token("--muted") };
	const grid = { color: token("--line") };
	return {
		indexAxis: "y",
		maintainAspectRatio: false,
		animation: false,
		layout: { padding: { right: Math.max(...results.map((result) => widthOf(text(result)))) + 16 } },
		scales: {
			x: { stacked, beginAtZero: true, ticks, grid, title: { display: true, text: axis, color: token("--muted") } },
			y: { stacked, ticks: { color: token("--ink"), crossAlign: "far" }, grid: { display: false } },
		},
		plugins: { legend: { display: sets.length > 1, position: "bottom", labels: { color: token("--ink"), boxWidth: 14 } } },
	};
}

/** The ground of the page, without which a picture of the chart is transparent. */
const ground = {
	id: "ground",
	beforeDraw({ ctx, width, height }) {
		ctx.save();
		ctx.fillStyle = token("--ground");
		ctx.fillRect(0, 0, width, height);
		ctx.restore();
	},
};

/** The numbers at the ends of the bars, as colours alone do not say enough. */
function texts({ text, sets, stacked }) {
	return {
		id: "texts",
		afterDatasetsDraw(drawn) {
			const { ctx } = drawn;
			ctx.save();
			ctx.fillStyle = token("--ink");
			ctx.font = textFont();
			ctx.textBaseline = "middle";
			results.forEach((result, index) => {
				const bars = sets.map((_, set) => drawn.getDatasetMeta(set).data[index]);
				const y = stacked ? bars[0].y : bars.reduce((sum, bar) => sum + bar.y, 0) / bars.length;
				ctx.fillText(text(result), Math.max(...bars.map((bar) => bar.x)) + 8, y);
			});
			ctx.restore();
		},
	};
}

function widthOf(text) {
	const context = document.createElement("canvas").getContext("2d");
	context.font = textFont();
	return context.measureText(text).width;
}

function textFont() {
	return `600 12px ${getComputedStyle(document.body).fontFamily}`;
}

function token(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name);
}

/** The chart, and the numbers of the table beneath it. */
function savePicture() {
	const chartCanvas = document.getElementById("chart");
	const lines = table(results);
	const widths = lines[0].map((_, column) => Math.max(...lines.map((cells) => widthOf(cells[column]))) + 20);
	const canvas = document.createElement("canvas");
	const context = canvas.getContext("2d");
	const height = chartCanvas.height / devicePixelRatio;
	const width = Math.max(chartCanvas.width / devicePixelRatio, widths.reduce((sum, each) => sum + each));
	canvas.width = (width + 40) * devicePixelRatio;
	canvas.height = chartCanvas.height + (lines.length * 24 + 24) * devicePixelRatio;
	context.fillStyle = token("--ground");
	context.fillRect(0, 0, canvas.width, canvas.height);
	context.drawImage(chartCanvas, 20 * devicePixelRatio, 0);
	context.scale(devicePixelRatio, devicePixelRatio);
	context.font = textFont();
	lines.forEach((cells, line) => {
		let x = 20;
		cells.forEach((text, column) => {
			context.fillStyle = token(line ? "--ink" : "--muted");
			context.fillText(text, numeric(column) ? x + widths[column] - 20 - widthOf(text) : x, height + line * 24 + 24);
			x += widths[column];
		});
	});
	canvas.toBlob((blob) => save("lab.png", blob), "image/png");
}

restore();
