// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import io.github.lockstarter.faults.history.Attempt;
import io.github.lockstarter.faults.history.History;
import io.github.lockstarter.faults.history.Step;

/**
 * A picture of the attempts around a violation, as SVG. Each owner has a line: light
 * while it waited, dark while it believed that it held the lock, grey while it released
 * it.
 */
public final class Timeline {

	private static final int WIDTH = 1200;

	private static final int MARGIN = 90;

	private static final int LINE = 26;

	private static final long MARGIN_NANOS = 3_000_000;

	private final List<Attempt> attempts;

	private final Set<String> owners = new LinkedHashSet<>();

	private final long from;

	private final long to;

	private Timeline(History history, Violation violation) {
		String key = violation.attempts().get(0).key();
		this.from = violation.attempts().stream().mapToLong((hold) -> hold.at(Step.GRANTED)).min().orElseThrow()
				- MARGIN_NANOS;
		this.to = violation.attempts().stream().mapToLong(Attempt::heldUntil).max().orElseThrow() + MARGIN_NANOS;
		this.attempts = history.attempts()
			.stream()
			.filter((attempt) -> attempt.key().equals(key) && attempt.at(Step.ASK) < this.to
					&& end(attempt) > this.from)
			.toList();
		this.attempts.forEach((attempt) -> this.owners.add(attempt.owner()));
	}

	/**
	 * Draw a violation that involves at least one attempt.
	 */
	public static String draw(History history, Violation violation) {
		return new Timeline(history, violation).draw(violation.message());
	}

	private String draw(String title) {
		int height = LINE * (this.owners.size() + 2);
		StringBuilder svg = new StringBuilder(
				"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\""
						+ " font-size=\"12\">%n".formatted(WIDTH, height));
		svg.append("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
		svg.append(text(4, 16, title + " (%.1f ms)".formatted((this.to - this.from) / 1e6)));
		int line = 0;
		for (String owner : this.owners) {
			int y = LINE * ++line;
			svg.append(text(4, y + 16, owner));
			this.attempts.stream()
				.filter((attempt) -> attempt.owner().equals(owner))
				.forEach((attempt) -> svg.append(bars(attempt, y)));
		}
		return svg.append("</svg>\n").toString();
	}

	private String bars(Attempt attempt, int y) {
		if (!attempt.has(Step.GRANTED)) {
			return bar(attempt.at(Step.ASK), end(attempt), y, "#ddd");
		}
		return bar(attempt.at(Step.ASK), attempt.at(Step.GRANTED), y, "#bcd")
				+ bar(attempt.at(Step.GRANTED), attempt.heldUntil(), y, "#246")
				+ bar(attempt.heldUntil(), end(attempt), y, "#999")
				+ text(x(attempt.at(Step.GRANTED)), y + 30, Long.toString(attempt.token()));
	}

	private String bar(long begin, long end, int y, String colour) {
		double x = x(begin);
		return String.format(Locale.ROOT, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"14\" fill=\"%s\"/>%n", x,
				y + 5, Math.max(1, x(end) - x), colour);
	}

	private static String text(double x, int y, String text) {
		return String.format(Locale.ROOT, "<text x=\"%.1f\" y=\"%d\">%s</text>%n", x, y, text.replace("<", "&lt;"));
	}

	private double x(long time) {
		double part = (double) (Math.max(this.from, Math.min(this.to, time)) - this.from) / (this.to - this.from);
		return MARGIN + part * (WIDTH - MARGIN - 10);
	}

	private static long end(Attempt attempt) {
		if (attempt.has(Step.GRANTED)) {
			return attempt.has(Step.GAVE) ? attempt.at(Step.GAVE) : attempt.heldUntil();
		}
		return Math.min(attempt.at(Step.REFUSED), attempt.at(Step.UNKNOWN));
	}

}
