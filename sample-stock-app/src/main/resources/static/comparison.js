// SPDX-License-Identifier: Apache-2.0

import { save, toCsv, toMarkdown } from "./download.js";
import { toLink } from "./link.js";
import { conditions, number, rate, time } from "./words.js";

/** The table and the chart that compare the results of this visit. */

const results = [];

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

/** Adds a result; the request of its run is what the link repeats. */
export function addResult(result, run, request) {
	results.push({ ...result, run });
	document.getElementById("comparison").hidden = false;
	document.getElementById("rows").append(row(result, run, request));
	draw();
}

function row(result, run, request) {
	const line = document.createElement("tr");
	const name = document.createElement("th");
	name.scope = "row";
	name.textContent = result.strategy;
	const right = result.verdict === "right";
	const outcome = cell(right ? "✓ right" : "✕ wrong", `outcome ${right ? "right" : "wrong"}`);
	outcome.title = result.sentence;
	const circumstances = cell(`${conditions(result)} · `, "conditions");
	const link = document.createElement("a");
	link.href = toLink(request);
	link.textContent = "repeat";
	link.setAttribute("aria-label", `Repeat run ${run}: ${request.strategies.join(", ")}`);
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
		font: { family: getComputedStyle(document.body).fontFamily },
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

function savePicture() {
	document.getElementById("chart").toBlob((blob) => save("lab.png", blob), "image/png");
}
