// SPDX-License-Identifier: Apache-2.0

/** The choices of runs as the part of a link after "#", and back. */

const numbers = ["instances", "users", "stock"];

export function toLink(...requests) {
	return `#${requests.map(part).join("&")}`;
}

function part({ strategies, instances, users, stock, fault }) {
	const values = new URLSearchParams({ strategies: strategies.join(","), instances, users, stock, fault });
	// A comma is legal here, and easier to read
	return String(values).replaceAll("%2C", ",");
}

/** What to run so that each of these results comes again: those with the same load and fault are one run. */
export function repeating(results) {
	const runs = new Map();
	for (const { strategy, ...choices } of results) {
		const conditions = part({ ...choices, strategies: [] });
		const run = runs.get(conditions) ?? { ...choices, strategies: [] };
		run.strategies = [...new Set([...run.strategies, strategy])];
		runs.set(conditions, run);
	}
	return [...runs.values()];
}

/**
 * Takes from a link what this shop knows, and says in a sentence each what it does not: the link may come from another
 * version, or from anybody. What the link does not mention is as in the defaults. Null if it is no link of runs.
 */
export function fromLink(link, info) {
	if (!link.includes("=")) {
		return null;
	}
	const problems = [];
	const runs = link.replace(/^#/, "").split(/&(?=strategies=)/)
		.flatMap((text) => read(new URLSearchParams(text), info, (problem) => problems.push(problem)));
	const requests = runs.filter(({ strategies }) => strategies.length);
	return { requests: requests.length ? requests : runs.slice(0, 1), problems: [...new Set(problems)] };
}

function read(values, { strategies, missing, faults, limits, defaults }, complain) {
	const request = { ...defaults };
	for (const [name, value] of values) {
		if (name === "strategies") {
			request.strategies = knownOf(value, strategies, missing, complain);
		}
		else if (numbers.includes(name)) {
			request[name] = inLimits(value, limits[name], defaults[name]);
			if (request[name] !== Number(value)) {
				complain(`${name}=${quoted(value)} is not a number from 1 to ${limits[name]}: ${request[name]} is taken instead.`);
			}
		}
		else if (name !== "fault") {
			complain(`This shop cannot choose ${quoted(name)}: it is left out.`);
		}
		else if (faults.some((fault) => fault.name === value)) {
			request.fault = value;
		}
		else {
			complain(`This shop does not have the fault ${quoted(value)}: “${defaults.fault}” is taken instead.`);
		}
	}
	// More than a run may have are sold in the next one
	const runs = [];
	for (let i = 0; i === 0 || i < request.strategies.length; i += limits.strategies) {
		runs.push({ ...request, strategies: request.strategies.slice(i, i + limits.strategies) });
	}
	return runs;
}

function knownOf(text, strategies, missing, complain) {
	const known = new Set(strategies.map(({ name }) => name));
	const names = [...new Set(text.split(","))].filter(Boolean);
	for (const name of names.filter((each) => !known.has(each))) {
		const profile = missing.find((strategy) => strategy.name === name)?.profile;
		complain(profile ? `The strategy ${quoted(name)} needs the profile ${profile}, without which this shop was started: it is left out.`
			: `This shop does not have the strategy ${quoted(name)}: it is left out.`);
	}
	return names.filter((name) => known.has(name));
}

function inLimits(text, limit, otherwise) {
	return /^\d+$/.test(text) && Number(text) > 0 ? Math.min(Number(text), limit) : otherwise;
}

/** Anybody can write a link. */
function quoted(text) {
	return `“${text.length > 40 ? `${text.slice(0, 40)}…` : text}”`;
}
