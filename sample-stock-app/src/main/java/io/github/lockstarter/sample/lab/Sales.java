// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import com.fasterxml.jackson.annotation.JsonUnwrapped;

/**
 * What the customers of one product were told. An answer with the number of remaining
 * pieces says which piece was sold; two with the same number have sold it twice.
 */
final class Sales {

	private final int stock;

	private final LongSupplier clock;

	private final List<Integer> pieces = new ArrayList<>();

	private final int[] timesSold;

	private final int[] answers = new int[Answer.values().length];

	private long[] latencies = new long[1024];

	private int requests;

	private int different;

	private int soldTwice;

	private long start;

	private long lastAnswer;

	private long lastSale;

	private boolean started;

	private boolean ended;

	/**
	 * Create statistics of no sales.
	 * @param stock the initial number of pieces
	 * @param clock in nanoseconds
	 */
	Sales(int stock, LongSupplier clock) {
		this.stock = stock;
		this.clock = clock;
		this.timesSold = new int[stock];
	}

	synchronized void start() {
		this.started = true;
		this.start = this.clock.getAsLong();
		this.lastAnswer = this.start;
		this.lastSale = this.start;
	}

	/** The last answer was the end. */
	synchronized void end() {
		this.ended = true;
	}

	synchronized void sold(int remaining, long nanos) {
		answered(Answer.SOLD, nanos);
		this.lastSale = this.lastAnswer;
		// A late owner may have raised the stock, but never above the initial one
		int piece = Math.min(Math.max(this.stock - remaining - 1, 0), this.stock - 1);
		this.pieces.add(piece);
		this.timesSold[piece]++;
		if (this.timesSold[piece] == 1) {
			this.different++;
		}
		else if (this.timesSold[piece] == 2) {
			this.soldTwice++;
		}
	}

	synchronized void answered(Answer answer, long nanos) {
		this.lastAnswer = this.clock.getAsLong();
		this.answers[answer.ordinal()]++;
		if (this.requests == this.latencies.length) {
			this.latencies = Arrays.copyOf(this.latencies, 2 * this.requests);
		}
		this.latencies[this.requests++] = nanos;
	}

	synchronized int sold() {
		return this.pieces.size();
	}

	/**
	 * Return the time since somebody has bought something, in nanoseconds.
	 */
	synchronized long sinceLastSale() {
		return this.clock.getAsLong() - this.lastSale;
	}

	/**
	 * Return what was sold after a number of sales.
	 */
	synchronized Part after(int sales) {
		return new Part(List.copyOf(this.pieces.subList(sales, this.pieces.size())), numbers());
	}

	synchronized Numbers numbers() {
		long[] sorted = Arrays.copyOf(this.latencies, this.requests);
		Arrays.sort(sorted);
		long nanos = !this.started ? 0 : (this.ended ? this.lastAnswer : this.clock.getAsLong()) - this.start;
		double seconds = nanos / 1e9;
		int sold = this.pieces.size();
		return new Numbers(sold, Math.max(0, sold - this.stock), this.soldTwice, sold - this.different, this.requests,
				(nanos > 0) ? Math.round(this.requests / seconds) : 0, percentile(sorted, 50), percentile(sorted, 99),
				this.answers[Answer.BUSY.ordinal()], this.answers[Answer.REFUSED.ordinal()],
				this.answers[Answer.FAILED.ordinal()], Math.round(seconds * 10) / 10.0);
	}

	private static long percentile(long[] sorted, int percent) {
		return (sorted.length > 0)
				? TimeUnit.NANOSECONDS.toMillis(sorted[(int) Math.ceil(sorted.length * percent / 100.0) - 1]) : 0;
	}

	/**
	 * What a customer was told.
	 */
	enum Answer {

		SOLD, SOLD_OUT, BUSY,

		/** A late owner of the lock, whose sale was not made. */
		REFUSED,

		FAILED;

		static Answer of(int status, String body) {
			return switch (status) {
				case 200 -> SOLD;
				case 409 -> SOLD_OUT;
				case 503 -> body.contains("by another owner in the meantime") ? REFUSED : BUSY;
				default -> (body.contains("Lock '") && body.contains(" was lost: ")) ? REFUSED : FAILED;
			};
		}

	}

	/**
	 * Some sales, in their order, and the numbers after them.
	 */
	record Part(List<Integer> pieces, Numbers numbers) {
	}

	/**
	 * All in numbers.
	 *
	 * @param sold the pieces that were sold
	 * @param oversold those that never existed
	 * @param soldTwice the pieces that more than one customer has bought
	 * @param lost the sales that others have overwritten
	 * @param requests the answered requests
	 * @param perSecond requests per second
	 * @param p50 the median of the latencies, in milliseconds
	 * @param p99 the 99th percentile
	 * @param busy the customers that were turned away because of others
	 * @param refused late owners whose sale was refused
	 * @param failed the requests without a proper answer
	 * @param seconds the time from the first request to the last answer
	 */
	record Numbers(long sold, long oversold, long soldTwice, long lost, long requests, long perSecond, long p50,
			long p99, long busy, long refused, long failed, double seconds) {

		/**
		 * Replace what customers were told by what the shop has booked.
		 */
		Numbers booked(long sold, long oversold, long lost) {
			return new Numbers(sold, oversold, this.soldTwice, lost, this.requests, this.perSecond, this.p50, this.p99,
					this.busy, this.refused, this.failed, this.seconds);
		}

		boolean areRight() {
			return this.oversold == 0 && this.lost == 0 && this.soldTwice == 0;
		}

	}

	/**
	 * How it ended.
	 */
	enum End {

		SOLD_OUT, TIME_OVER, NO_INSTANCE,

		/** Nobody has bought anything for long, which may be due to a slow computer. */
		STUCK,

		/** The same since a fault: the lock stays locked. */
		LOCKED

	}

	/**
	 * What became of one strategy.
	 *
	 * @param struck whether the fault took place
	 * @param byHand what somebody did to the instances meanwhile
	 * @param verdict right, wrong, or unfinished if neither was shown
	 * @param sentence the same in words
	 */
	record Result(String strategy, String family, String expectation, int instances, int users, int stock, Fault fault,
			boolean struck, List<String> byHand, @JsonUnwrapped Numbers numbers, String verdict, String sentence) {

		static Result of(LabRun.Strategy strategy, LabRun.Request request, Numbers numbers, End end, boolean struck,
				List<String> byHand) {
			boolean wrong = !numbers.areRight() || (end == End.LOCKED && numbers.sold < request.stock());
			boolean unfinished = !wrong && (numbers.sold < request.stock() || !struck);
			String note = (unfinished && !struck) ? "; the fault was not reached"
					: (!wrong && request.users() == 1) ? "; with one customer, nothing competed" : "";
			return new Result(strategy.name(), strategy.family(), strategy.expectation(), request.instances(),
					request.users(), request.stock(), request.fault(), struck, byHand, numbers,
					wrong ? "wrong" : unfinished ? "unfinished" : "right",
					sentence(numbers, request.stock(), end) + note);
		}

		private static String sentence(Numbers numbers, int stock, End end) {
			String sold = String.format(Locale.ENGLISH, "Sold %,d of %,d pieces", numbers.sold, stock);
			if (numbers.oversold > 0) {
				return sold + String.format(Locale.ENGLISH, ": %,d that %s not exist", numbers.oversold,
						(numbers.oversold == 1) ? "does" : "do");
			}
			if (numbers.lost > 0) {
				return sold + String.format(Locale.ENGLISH, ", but %,d of these sales were overwritten", numbers.lost);
			}
			if (numbers.soldTwice > 0) {
				return sold + ", %d of them twice".formatted(numbers.soldTwice);
			}
			if (numbers.sold == stock) {
				return sold + ", each of them once";
			}
			return sold + switch (end) {
				case NO_INSTANCE -> ", each of them once, until no instance was left";
				case TIME_OVER -> ", each of them once, until the time was over";
				case STUCK, LOCKED ->
					", and then nobody bought anything for %d seconds".formatted(LabRun.STUCK.toSeconds());
				case SOLD_OUT -> ", each of them once";
			};
		}

	}

}
