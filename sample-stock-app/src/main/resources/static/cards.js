// SPDX-License-Identifier: Apache-2.0

import { Stock } from "./stock.js";
import { count, hasTitle, number, rate, time, title } from "./words.js";

/** What the page shows of each strategy of a run, and of each instance. */

const texts = { stock: number, sold: number, oversold: number, lost: number, busy: number, refused: number, failed: number, perSecond: rate,
	p50: time, p99: time };

let cards = [];

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => cards.forEach((card) => card.stock.fit()));

/** Shows a card for each strategy of a request, with nothing sold. */
export function showStocks({ strategies, stock }) {
	cards = strategies.map((strategy) => new StockCard(strategy, stock));
	document.getElementById("stocks").replaceChildren(...cards.map((card) => card.element));
	return cards;
}

class StockCard {

	constructor(strategy, stock) {
		this.element = instantiate("stock-card");
		this.set("title", title(strategy));
		if (hasTitle(strategy)) {
			this.set("name", strategy);
		}
		this.set("stock", number(stock));
		this.stock = new Stock(this.element.querySelector("canvas"), strategy, stock);
		this.say("waits for its turn");
	}

	set(part, text) {
		put(this.element, part, text);
	}

	show() {
		this.element.querySelector(".grid").scrollIntoView({ block: "nearest" });
	}

	say(text) {
		this.set("sentence", text);
	}

	/** Makes this card the one that is sold from, or no more. */
	current(is) {
		this.element.classList.toggle("current", is);
	}

	numbers(values) {
		for (const [name, format] of Object.entries(texts)) {
			if (name in values) {
				this.set(name, format(values[name]));
			}
		}
		for (const name of ["oversold", "lost"]) {
			part(this.element, name).parentElement.classList.toggle("some", values[name] !== 0 && values[name] !== undefined);
		}
	}

	result(result) {
		this.numbers(result);
		// What makes a shop oversell: it does not know
		const counted = result.stock - result.sold + result.lost;
		this.say(result.oversold && counted > 0 ? `${result.sentence}, and the shop still counts ${number(counted)} in stock`
			: result.sentence);
		this.element.classList.add(result.verdict);
		this.current(false);
		this.stock.describe();
	}

}

/** The cards of the instances, which call the listener with a number and "pause" or "kill". */
export class Instances {

	#act;

	#cards = new Map();

	constructor(act) {
		this.#act = act;
	}

	/** Only of our locks the instances tell who holds them. */
	show(instances, ours) {
		document.getElementById("no-instances").hidden = instances.length > 0;
		for (const instance of instances) {
			if (!this.#cards.has(instance.number)) {
				const card = new InstanceCard(instance, this.#act);
				this.#cards.set(instance.number, card);
				document.getElementById("instances").append(card.element);
			}
			this.#cards.get(instance.number).update(instance, ours);
		}
		for (const [number, card] of this.#cards) {
			if (!instances.some((instance) => instance.number === number)) {
				card.element.remove();
				this.#cards.delete(number);
			}
		}
	}

	/** Nobody sells any more, and nobody tells what becomes of the instances. */
	rest() {
		this.#cards.forEach((card) => card.rest());
	}

}

class InstanceCard {

	/** The last second, as a lock that changes its owner a hundred times a second cannot be watched. */
	#held = [];

	#frames = 0;

	constructor({ number: instance, name }, act) {
		this.element = instantiate("instance-card");
		put(this.element, "name", name);
		for (const button of this.element.querySelectorAll("button")) {
			button.setAttribute("aria-label", `${button.textContent}: ${name}`);
			button.addEventListener("click", () => {
				if (button.getAttribute("aria-disabled") !== "true") {
					act(instance, button.dataset.action);
				}
			});
		}
	}

	update({ state, holds, waits }, ours) {
		const changed = this.#become(state);
		if (changed) {
			this.#held = [];
		}
		this.#held = [...this.#held.slice(-9), Boolean(holds)];
		const share = this.#held.filter(Boolean).length / this.#held.length;
		if (changed || this.#frames++ % 5 === 0) {
			if (ours) {
				this.#say(state, state === "ended" ? 0 : share, waits);
			} else {
				this.#saySilent();
			}
		}
	}

	rest() {
		this.#held = [];
		this.#saySilent();
		if (this.element.dataset.state !== "ended") {
			this.#become("idle");
		}
	}

	#become(state) {
		if (this.element.dataset.state === state) {
			return false;
		}
		this.element.dataset.state = state;
		put(this.element, "state", state);
		this.#allow("pause", state === "running");
		this.#allow("kill", state === "running" || state === "paused");
		return true;
	}

	#saySilent() {
		put(this.element, "lock", "");
		put(this.element, "waits", "");
		this.element.classList.remove("holds");
	}

	#say(state, share, waits) {
		// By now, another one may hold it
		put(this.element, "lock", state !== "paused" ? lockOf(share) : share > 0 ? "held the lock when it was paused" : "");
		put(this.element, "waits", waits > 0 ? `${count(waits, "customer waits", "customers wait")} for it` : "nobody waits here");
		this.element.classList.toggle("holds", share > 0);
	}

	#allow(action, is) {
		this.element.querySelector(`[data-action=${action}]`).setAttribute("aria-disabled", String(!is));
	}

}

function lockOf(share) {
	if (share === 0) {
		return "does not hold the lock";
	}
	return share > 0.9 ? "holds the lock" : `holds the lock ${Math.round(share * 10) * 10} % of the time`;
}

function instantiate(template) {
	return document.getElementById(template).content.firstElementChild.cloneNode(true);
}

function part(element, name) {
	return element.querySelector(`[data-part="${name}"]`);
}

function put(element, name, text) {
	const target = part(element, name);
	// Ten times a second, mostly with the same text
	if (target.textContent !== text) {
		target.textContent = text;
	}
}
