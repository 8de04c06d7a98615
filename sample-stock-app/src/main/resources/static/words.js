// SPDX-License-Identifier: Apache-2.0

/** Numbers, names and sentences as the page shows them. */

const numbers = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

const titles = { none: "Without a lock", "distributed-lock": "With our lock" };

/** What a button does besides selling. */
const deeds = { none: "", slow: ", some of them slowly", pause: ", and pause an owner", crash: ", and crash an instance",
	"redis-restart": ", and restart Redis", flushall: ", and let Redis forget all" };

const plain = { none: "", slow: "slow sales", pause: "a paused owner", crash: "a crash", "redis-restart": "Redis restarted",
	flushall: "FLUSHALL" };

/** A sign of each verdict, besides its colour. */
const signs = { right: "✓", wrong: "✕", unfinished: "○" };

export function number(value) {
	return numbers.format(value ?? 0);
}

/** A rate or time of which nothing is known yet is a dash, not zero. */
export function rate(value) {
	return value > 0 ? number(value) : "–";
}

export function time(milliseconds) {
	if (!(milliseconds > 0)) {
		return "–";
	}
	if (milliseconds >= 1000) {
		return `${(milliseconds / 1000).toFixed(1)} s`;
	}
	return milliseconds < 10 ? `${milliseconds.toFixed(1)} ms` : `${number(milliseconds)} ms`;
}

export function count(value, one, many = `${one}s`) {
	return `${number(value)} ${value === 1 ? one : many}`;
}

export function title(strategy) {
	return titles[strategy] ?? strategy;
}

/** Whether the title says more than the name. */
export function hasTitle(strategy) {
	return strategy in titles;
}

export function verdict({ verdict: name }) {
	return `${signs[name]} ${name}`;
}

/** Of a result, also what happened: a fault that was chosen may not have been reached, and somebody may have done more by hand. */
export function conditions({ instances, users, stock, fault, struck = true, byHand = [] }) {
	const name = plain[fault] ?? fault;
	return [count(instances, "instance"), count(users, "customer"), count(stock, "piece"),
		name && !struck ? `${name} (not reached)` : name, ...byHand.map((what) => `${what} by hand`)].filter(Boolean).join(", ");
}

/** What a run does, as a button says it. */
export function deed({ strategies, stock, fault }) {
	const way = (strategy, index) => strategy === "none" ? "without a lock"
		: strategy !== "distributed-lock" ? `with ${strategy}` : index ? "with ours" : "with our lock";
	const ways = strategies.length > 3 ? `with ${strategies.length} strategies, one after the other`
		: strategies.map(way).join(", then ");
	return `Sell ${count(stock, "piece")} ${ways}${deeds[fault] ?? ""}`;
}

/** What became of a run, in a sentence for each strategy, or for all with the same verdict if there are many. */
export function summary(results) {
	if (results.length <= 3) {
		return results.map(({ strategy, sentence }) => {
			const start = titles[strategy] ?? `With ${strategy}`;
			return `${start} the shop ${sentence.charAt(0).toLowerCase()}${sentence.slice(1).replace(/\.$/, "")}.`;
		}).join(" ");
	}
	return Object.keys(signs).map((verdict) => [verdict, results.filter((result) => result.verdict === verdict)])
		.filter(([, some]) => some.length)
		.map(([verdict, some]) => `${verdict.charAt(0).toUpperCase()}${verdict.slice(1)}: ${some.map(({ strategy }) => strategy).join(", ")}.`)
		.join(" ");
}
