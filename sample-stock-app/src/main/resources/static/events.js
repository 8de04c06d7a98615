// SPDX-License-Identifier: Apache-2.0

/** Server-sent events by fetch, as an EventSource cannot send the header with the token. */

/** Takes the complete events from a text, and returns them with the rest. */
export function parseEvents(text) {
	const blocks = text.replaceAll("\r\n", "\n").split("\n\n");
	const rest = blocks.pop();
	return { events: blocks.map(parseEvent).filter((event) => event.data), rest };
}

function parseEvent(block) {
	const event = { name: "message", data: "" };
	for (const line of block.split("\n")) {
		const [, field, value] = line.match(/^([^:]*):? ?(.*)$/);
		if (field === "event") {
			event.name = value;
		}
		else if (field === "data") {
			event.data += event.data ? `\n${value}` : value;
		}
	}
	return event;
}

/**
 * Calls the handler of each event until one of them returns true, which is the last, and connects again when the connection
 * is lost.
 * @param open returns the promise of a response: undefined if there was no answer, null if there will be none any more
 * @param lost called with true when the connection is lost, and with false when it is back
 * @returns whether the last event was seen
 */
export async function follow(open, handlers, lost) {
	let failures = 0;
	const received = () => {
		if (failures) {
			failures = 0;
			lost(false);
		}
	};
	for (;;) {
		const response = await open();
		if (response === null) {
			return false;
		}
		if (response && await read(response, handlers, received)) {
			return true;
		}
		lost(true);
		await new Promise((resolve) => setTimeout(resolve, Math.min(250 * 2 ** failures++, 4000)));
	}
}

async function read(response, handlers, received) {
	const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
	let text = "";
	for (;;) {
		const { value, done } = await reader.read().catch(() => ({ done: true }));
		if (done) {
			return false;
		}
		const { events, rest } = parseEvents(text + value);
		text = rest;
		for (const { name, data } of events) {
			received();
			if (handlers[name]?.(JSON.parse(data))) {
				reader.cancel();
				return true;
			}
		}
	}
}
