// SPDX-License-Identifier: Apache-2.0

import { Instances, showStocks } from "./cards.js";
import { complaint, getChoices, setChoices, showChoices } from "./choices.js";
import { addResult } from "./comparison.js";
import { follow } from "./events.js";
import { fromLink } from "./link.js";
import { conditions, count, summary, title } from "./words.js";

/** Starts runs, and shows what becomes of them. */

const element = (id) => document.getElementById(id);

const buttons = [element("default-run"), element("start")];

const instances = new Instances(act);

/** What GET /api/lab said. */
let info;

/** The run that is shown: its id, request, cards and results. */
let run;

/** The requests of the runs that follow the chosen one. */
let then = [];

async function load() {
	info = await (await request("api/lab")).json();
	showChoices(info, () => {
		complain("");
		plan([]);
	});
	setChoices(info.defaults, info);
	run = { request: info.defaults, cards: showStocks(info.defaults), results: [] };
	const { stock, users, instances: shops } = info.defaults;
	element("default-run").textContent = `Sell ${count(stock, "piece")} without a lock, then with ours`;
	element("lead").textContent = `Behind this page, ${count(shops, "instance")} of one shop sell the same ${count(stock, "piece")} `
		+ `to ${count(users, "customer")} at once. A box fills when its piece is sold, and turns red when the same piece is sold again.`;
	element("default-run").addEventListener("click", () => start(info.defaults));
	element("form").addEventListener("submit", startChosen);
	element("stop").addEventListener("click", stop);
	addEventListener("hashchange", useLink);
	addEventListener("click", useLinkAgain);
	document.addEventListener("visibilitychange", () => watchOther().catch(() => {}));
	idle("Ready. It takes less than half a minute, and this computer is all it needs.");
	useLink();
	if (info.run) {
		watch(info.run.id);
	}
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

function useLink() {
	const link = fromLink(location.hash, info);
	if (link) {
		setChoices(link.requests[0], info);
		plan(link.requests.slice(1));
		complain(link.problems.join("\n"), "problem");
		element(link.problems.length ? "problem" : "choices").scrollIntoView();
		element("start").focus({ preventScroll: true });
		if (isIdle()) {
			say(`${then.length ? `The ${then.length + 1} runs` : "The choices"} of the link are below. Press Start.`);
		}
	}
}

/** Says which runs follow the chosen one. */
function plan(requests) {
	then = requests;
	element("then").textContent = requests.map((request) => `Then ${request.strategies.join(", ")} with ${conditions(request)}.`)
		.join("\n");
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
	start(getChoices(), then);
}

async function start(chosen, others = []) {
	if (!isIdle()) {
		return;
	}
	complain("");
	plan(others);
	busy("Starting");
	run = { request: chosen, cards: showStocks(chosen), results: [] };
	run.cards[0].show();
	try {
		const response = await request("api/lab/runs", { method: "POST", body: JSON.stringify(chosen),
			headers: { "Content-Type": "application/json" } });
		await watch((await response.json()).id);
		if (then.length && run.results.length === run.cards.length) {
			await start(then[0], then.slice(1));
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
		run = { id, request: state.request, cards: showStocks(state.request), results: [] };
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
		card.say(phase === "warming-up" ? "warming up …" : "selling …");
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
		element("default-run").focus();
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
