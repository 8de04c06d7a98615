// SPDX-License-Identifier: Apache-2.0

import { Instances, showStocks } from "./cards.js";
import { complaint, getChoices, setChoices, showChoices } from "./choices.js";
import { addResult } from "./comparison.js";
import { follow } from "./events.js";
import { fromLink } from "./link.js";
import { conditions, count, deed, summary, title } from "./words.js";

/** Starts runs, and shows what becomes of them. */

const element = (id) => document.getElementById(id);

const buttons = [element("run"), element("start")];

const instances = new Instances(act);

/** What GET /api/lab said. */
let info;

/** The run that is shown: its id, request, cards and results. */
let run;

/** The requests of the runs that the big button starts, one after the other. */
let planned = [];

async function load() {
	info = await (await request("api/lab")).json();
	showChoices(info, () => complain(""));
	element("run").addEventListener("click", () => start(planned));
	element("form").addEventListener("submit", startChosen);
	element("stop").addEventListener("click", stop);
	addEventListener("hashchange", useLink);
	addEventListener("click", useLinkAgain);
	document.addEventListener("visibilitychange", () => watchOther().catch(() => {}));
	enable(true);
	useLink();
	if (info.run) {
		watch(info.run.id);
	}
	else {
		await prepare();
	}
}

/** Lets the instances start while the reader reads. */
async function prepare() {
	for (;;) {
		const list = await (await request("api/lab/instances", { method: "POST" })).json();
		if (!isIdle()) {
			return;
		}
		instances.show(list, false);
		if (!list.some(({ state }) => state === "starting")) {
			instances.rest();
			announce(list.every(({ state }) => state === "running") ? "The instances are ready." : "");
			return;
		}
		await new Promise((resolve) => setTimeout(resolve, 1000));
		if (!isIdle()) {
			return;
		}
	}
}

/** Shows what a run is to sell, before it sells. */
function show(chosen, id) {
	run = { id, request: chosen, cards: showStocks(chosen), results: [] };
	const { stock, users, instances: shops } = chosen;
	element("lead").textContent = `Behind this page, ${count(shops, "instance")} of one shop sell${shops === 1 ? "s" : ""} the same `
		+ `${count(stock, "piece")} to ${count(users, "customer")} at once. A box fills when its piece is sold, and turns red when `
		+ "the same piece is sold again.";
}

/** Another page may have started a run meanwhile. */
async function watchOther() {
	if (!document.hidden && isIdle()) {
		const { run: other } = await (await request("api/lab")).json();
		if (other && isIdle()) {
			await watch(other.id);
		}
	}
}

/** Asks the shop; a problem is an Error with a sentence for the reader. */
async function request(url, options = {}) {
	let response;
	try {
		response = await send(url, options);
		if (response.status === 403 && info) {
			// The shop was started again, and has another token
			info.token = (await (await send("api/lab", {})).json()).token;
			response = await send(url, options);
		}
	}
	catch {
		throw new Error("The shop does not answer. Is it still running?");
	}
	if (!response.ok) {
		const problem = await response.json().catch(() => ({}));
		throw Object.assign(new Error(problem.detail ?? `The shop answers with ${response.status}.`), { status: response.status,
			id: problem.id });
	}
	return response;
}

function send(url, options) {
	const headers = { ...options.headers, ...(info && { "X-Lab-Token": info.token }) };
	return fetch(url, { ...options, headers, cache: "no-store" });
}

/** Plans what the address of the page says, or else what a newcomer should see first. */
function useLink() {
	const link = fromLink(location.hash, info);
	if (!link && planned.length && location.hash) {
		return;
	}
	planned = link?.requests ?? [info.defaults];
	element("run").textContent = planned.length > 3 ? `Repeat the ${planned.length} runs of the link`
		: planned.map((each, index) => index ? deed(each).replace("Sell", "sell") : deed(each)).join(", then ");
	setChoices(planned[0], info);
	if (!isIdle()) {
		return;
	}
	show(planned[0]);
	complain(link?.problems.join("\n") ?? "");
	idle(link ? `Ready: ${planned.length > 1 ? `${planned.length} runs, the first with ` : ""}${conditions(planned[0])}.`
		: "Ready. It takes less than half a minute, and this computer is all it needs.");
	if (link) {
		element(link.problems.length ? "error" : "run").scrollIntoView({ block: "nearest" });
		if (!link.problems.length) {
			run.cards[0].show();
		}
		element("run").focus({ preventScroll: true });
	}
}

/** No hash changes with the link of the run that the address names already. */
function useLinkAgain({ target }) {
	const link = target.closest("a");
	if (link?.hash && link.href === location.href) {
		useLink();
	}
}

function startChosen(event) {
	event.preventDefault();
	const problem = complaint();
	if (problem) {
		complain(problem.text, "problem");
		problem.input.focus();
		return;
	}
	start([getChoices()]);
}

async function start([chosen, ...others]) {
	if (!isIdle()) {
		return;
	}
	complain("");
	busy("Starting");
	show(chosen);
	run.cards[0].show();
	try {
		const response = await request("api/lab/runs", { method: "POST", body: JSON.stringify(chosen),
			headers: { "Content-Type": "application/json" } });
		await watch((await response.json()).id);
		if (others.length && run.results.length === run.cards.length) {
			await start(others);
		}
	}
	catch (error) {
		complain(error.message);
		idle("");
		if (error.status === 409 && error.id) {
			// Another page has started it
			await watch(error.id);
			if (element("error").textContent === error.message) {
				complain("");
			}
		}
	}
}

/** Shows a run to its end. */
async function watch(id) {
	busy("Starting");
	const handlers = {
		state: (state) => showState(id, state),
		frame: showFrame,
		result: showResult,
		end: ({ message }) => {
			end(message);
			return true;
		},
	};
	try {
		if (!await follow(() => open(id), handlers, (lost) => complain(lost ? "The connection is lost. Trying again …" : ""))) {
			complain("The shop was started again, and does not know this run any more.");
			end("");
		}
	}
	catch (error) {
		complain(error.message);
		end("");
	}
}

/** Opens the events of a run: undefined if the shop does not answer, null if it does not know the run any more. */
async function open(id) {
	try {
		return await request(`api/lab/runs/${encodeURIComponent(id)}/events`);
	}
	catch (error) {
		if (error.status && error.status !== 404) {
			throw error;
		}
		return error.status ? null : undefined;
	}
}

function showState(id, state) {
	if (run.id !== id) {
		show(state.request, id);
	}
	// Those that ended while the connection was lost
	state.results.slice(run.results.length).forEach(finish);
	if (state.current) {
		run.cards[state.current.index].stock.set(state.pieces);
	}
	showFrame({ ...state, sold: [] });
}

function showFrame({ phase, message, current, sold, numbers, instances: list }) {
	busy(message);
	if (phase !== run.phase) {
		run.phase = phase;
		if (phase === "starting") {
			announce(message);
		}
	}
	instances.show(list, Boolean(current) && family(current.strategy) === "distributed-lock");
	if (!current) {
		return;
	}
	const card = run.cards[current.index];
	if (run.current !== current.index) {
		run.current = current.index;
		run.cards.forEach((other) => other.current(other === card));
		announce(`${title(current.strategy)}: selling`);
	}
	// A result is final
	if (current.index >= run.results.length) {
		card.stock.add(sold);
		card.say(phase === "warming-up" ? "warming up …" : list.some(({ state }) => state === "running") ? "selling …"
			: "nobody sells at the moment");
		if (numbers) {
			card.numbers(numbers);
		}
	}
}

function family(strategy) {
	return info.strategies.find(({ name }) => name === strategy)?.family;
}

function showResult(result) {
	// Else the connection was lost after it
	if (run.current === run.results.length) {
		finish(result);
	}
}

function finish(result) {
	run.cards[run.results.length].result(result);
	run.results.push(result);
	addResult(result, run);
	announce(`${title(result.strategy)}: ${result.sentence}`);
}

function end(message) {
	run.cards.slice(run.results.length).forEach((card) => {
		card.current(false);
		card.say("stopped");
	});
	instances.rest();
	idle(run.results.length === run.cards.length ? summary(run.results) : message);
}

async function stop() {
	try {
		await request(`api/lab/runs/${encodeURIComponent(run.id)}`, { method: "DELETE" });
	}
	catch (error) {
		complain(error.message);
	}
}

async function act(number, action) {
	try {
		await request(`api/lab/instances/${number}/${action}`, { method: "POST" });
		complain("");
	}
	catch (error) {
		complain(error.message);
	}
}

function busy(message) {
	enable(false);
	element("stop").hidden = !run?.id;
	say(message, true);
}

function idle(message) {
	if (document.activeElement === element("stop")) {
		element("run").focus();
	}
	enable(true);
	element("stop").hidden = true;
	say(message);
	announce(message);
}

function isIdle() {
	return buttons[0].getAttribute("aria-disabled") === "false";
}

function enable(is) {
	buttons.forEach((button) => button.setAttribute("aria-disabled", String(!is)));
}

function say(message, working = false) {
	if (element("message").textContent !== message) {
		element("message").textContent = message;
	}
	element("message").classList.toggle("busy", working);
}

/** Says something to those who listen to the page. */
function announce(message) {
	element("live").textContent = message;
}

/** Where the reader looks: at the top, or beside the choices that cannot be. */
function complain(message, where = "error") {
	for (const place of ["error", "problem"]) {
		const text = place === where ? message : "";
		if (element(place).textContent !== text) {
			element(place).textContent = text;
		}
	}
}

load().catch((error) => complain(error.message));
