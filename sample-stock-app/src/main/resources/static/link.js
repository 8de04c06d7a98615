// SPDX-License-Identifier: Apache-2.0

/** The choices of a run as the part of a link after "#", and back. */

export function toLink({ strategies, instances, users, stock, fault }) {
	const values = new URLSearchParams({ strategies: strategies.join(","), instances, users, stock, fault });
	// A comma is legal here, and easier to read
	return `#${values}`.replaceAll("%2C", ",");
}

/**
 * Takes from a link what this shop knows, and everything else from its defaults: the link may come from another version,
 * or from anybody. Null if it is not the link of a run.
 */
export function fromLink(link, { strategies, faults, limits, defaults }) {
	const values = new URLSearchParams(link.replace(/^#/, ""));
	if (!values.has("strategies")) {
		return null;
	}
	const known = new Set(strategies.map(({ name }) => name));
	const chosen = [...new Set(values.get("strategies").split(","))].filter((name) => known.has(name));
	const fault = values.get("fault");
	return {
		strategies: chosen.length ? chosen.slice(0, limits.strategies) : defaults.strategies,
		instances: inLimits(values.get("instances"), limits.instances, defaults.instances),
		users: inLimits(values.get("users"), limits.users, defaults.users),
		stock: inLimits(values.get("stock"), limits.stock, defaults.stock),
		fault: faults.some(({ name }) => name === fault) ? fault : defaults.fault,
	};
}

function inLimits(text, limit, otherwise) {
	return /^\d+$/.test(text ?? "") && Number(text) > 0 ? Math.min(Number(text), limit) : otherwise;
}
