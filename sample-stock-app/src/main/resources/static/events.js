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
 * Calls the handler of each event until one of them returns true, which is the last, and connects again after an error.
 * @param open returns the promise of a response; the response null means that there is nothing to connect to any more
 * @param lost called with true when the connection is lost, and with false when it is back
 * @returns whether the last event was seen
 */
export async function follow(open, handlers, lost) {
	for (let failures = 0; ; failures++) {
		try {
			const response = await open();
			if (!response) {
				return false;
			}
			if (await read(response, handlers, () => {
				failures = 0;
				lost(false);
			})) {
				return true;
			}
		}
		catch (error) {
			if (!(error instanceof TypeError)) {
				throw error;
			}
		}
		lost(true);
		await new Promise((resolve) => setTimeout(resolve, Math.min(250 * 2 ** failures, 4000)));
	}
}

async function read(response, handlers, received) {
	const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
	let text = "";
	for (;;) {
		const { value, done } = await reader.read();
		if (done) {
			return false;
		}
		const { events, rest } = parseEvents(text + value);
		text = rest;
		for (const { name, data } of events) {
			received();
			if (handlers[name]?.(JSON.parse(data))) {
				await reader.cancel();
				return true;
			}
		}
	}
}
