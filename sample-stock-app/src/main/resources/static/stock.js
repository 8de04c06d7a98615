// SPDX-License-Identifier: Apache-2.0

import { count } from "./words.js";

/** For how long a piece that was just sold is bright, in milliseconds. */
const FRESH = 450;

/** From this width on, a piece that was sold more than once shows how often; a smaller one shows a cross. */
const READABLE = 13;

/** The width of the boxes of a small stock. */
const LARGEST = 40;

const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** The stock as a grid of boxes on a canvas, one for each piece. */
export class Stock {

	#canvas;

	#name;

	#size;

	#sales;

	#fresh;

	#colours;

	#columns;

	#drawing = false;

	#described = 0;

	constructor(canvas, name, size) {
		this.#canvas = canvas;
		this.#name = name;
		this.#size = size;
		this.#fresh = new Map();
		this.#sales = new Uint16Array(size);
		new ResizeObserver(() => this.fit()).observe(canvas.parentElement);
		this.describe();
	}

	/** Replaces everything by how often each piece was sold. */
	set(sales) {
		this.#sales.fill(0);
		this.#sales.set(sales.slice(0, this.#size));
		this.#fresh.clear();
		this.#draw();
		this.describe();
	}

	/** Adds pieces that were sold. */
	add(pieces) {
		const now = performance.now();
		for (const piece of pieces) {
			if (piece >= 0 && piece < this.#size) {
				this.#sales[piece]++;
				if (!calm.matches) {
					this.#fresh.set(piece, now);
				}
			}
		}
		this.#draw();
		if (now - this.#described > 2000) {
			this.describe();
		}
	}

	/** Says in words what the picture shows. */
	describe() {
		this.#described = performance.now();
		const sold = this.#sales.filter((sales) => sales > 0).length;
		const twice = this.#sales.filter((sales) => sales > 1).length;
		this.#canvas.setAttribute("aria-label", `Stock of the strategy ${this.#name}: ${count(this.#size, "piece")}, `
			+ `${sold} of them sold, ${twice} sold more than once`);
	}

	/** Takes size and colours from the page. */
	fit() {
		const available = this.#canvas.parentElement.clientWidth;
		if (!available) {
			return;
		}
		const style = getComputedStyle(this.#canvas);
		const colour = (name) => style.getPropertyValue(`--${name}`);
		this.#colours = { empty: colour("empty"), edge: colour("empty-edge"), sold: colour("sold"), twice: colour("twice"),
			mark: colour("mark"), fresh: colour("fresh") };
		this.#columns = columnsFor(this.#size, available);
		const width = Math.min(available, this.#columns * LARGEST);
		const height = Math.ceil(this.#size / this.#columns) * width / this.#columns;
		this.#canvas.width = Math.round(width * devicePixelRatio);
		this.#canvas.height = Math.round(height * devicePixelRatio);
		this.#canvas.style.width = `${width}px`;
		this.#canvas.style.height = `${height}px`;
		// At once, as a canvas that was given a size is empty
		this.#paint();
	}

	#draw() {
		if (!this.#drawing && this.#colours) {
			this.#drawing = true;
			requestAnimationFrame(() => {
				this.#drawing = false;
				this.#paint();
				if (this.#fresh.size) {
					this.#draw();
				}
			});
		}
	}

	#paint() {
		const context = this.#canvas.getContext("2d");
		const columns = this.#columns;
		const gap = Math.max(1, Math.round(this.#canvas.width / columns * 0.12));
		const cell = (this.#canvas.width + gap) / columns;
		const now = performance.now();
		context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
		context.textAlign = "center";
		context.textBaseline = "middle";
		for (let piece = 0; piece < this.#size; piece++) {
			const box = boxOf(piece, columns, cell, gap);
			this.#paintBox(context, box, this.#sales[piece]);
			if (this.#fresh.has(piece)) {
				this.#paintFresh(context, box, now - this.#fresh.get(piece), piece);
			}
		}
	}

	#paintBox(context, { x, y, side }, sales) {
		context.beginPath();
		context.roundRect(x, y, side, side, side * 0.2);
		context.fillStyle = [this.#colours.empty, this.#colours.sold][sales] ?? this.#colours.twice;
		context.fill();
		if (sales === 0) {
			context.strokeStyle = this.#colours.edge;
			context.lineWidth = 1;
			context.stroke();
		}
		if (sales > 1) {
			this.#paintMark(context, { x, y, side }, sales);
		}
	}

	/** A mark besides the colour, for those who do not see red. */
	#paintMark(context, { x, y, side }, sales) {
		if (side / devicePixelRatio >= READABLE) {
			context.font = `700 ${Math.round(side * (sales > 9 ? 0.58 : 0.66))}px system-ui, sans-serif`;
			context.fillStyle = this.#colours.mark;
			context.fillText(Math.min(sales, 99), x + side / 2, y + side * 0.54);
			return;
		}
		context.strokeStyle = this.#colours.mark;
		context.lineWidth = Math.max(1, side * 0.14);
		context.beginPath();
		context.moveTo(x + side * 0.28, y + side * 0.28);
		context.lineTo(x + side * 0.72, y + side * 0.72);
		context.moveTo(x + side * 0.72, y + side * 0.28);
		context.lineTo(x + side * 0.28, y + side * 0.72);
		context.stroke();
	}

	#paintFresh(context, { x, y, side }, age, piece) {
		if (age > FRESH) {
			this.#fresh.delete(piece);
			return;
		}
		context.globalAlpha = 0.75 * (1 - age / FRESH);
		context.fillStyle = this.#colours.fresh;
		context.beginPath();
		context.roundRect(x, y, side, side, side * 0.2);
		context.fill();
		context.globalAlpha = 1;
	}

}

/** Of a shape that fits into a card of this width, and without a gap in the last row where that is possible. */
export function columnsFor(size, width) {
	const shape = Math.min(4, Math.max(1.2, width / 300));
	const ideal = Math.sqrt(size * shape);
	for (let distance = 0; distance <= ideal * 0.3; distance++) {
		for (const columns of [Math.round(ideal) + distance, Math.round(ideal) - distance]) {
			if (columns > 0 && size % columns === 0) {
				return columns;
			}
		}
	}
	return Math.max(1, Math.round(ideal));
}

/** On whole pixels, so that edges are sharp. */
function boxOf(piece, columns, cell, gap) {
	const x = Math.round(piece % columns * cell);
	const y = Math.round(Math.floor(piece / columns) * cell);
	return { x, y, side: Math.floor(cell) - gap };
}
