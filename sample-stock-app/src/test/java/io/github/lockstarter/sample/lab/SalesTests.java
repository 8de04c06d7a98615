// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.sample.lab.LabRun.Request;
import io.github.lockstarter.sample.lab.LabRun.Strategy;
import io.github.lockstarter.sample.lab.Sales.Answer;
import io.github.lockstarter.sample.lab.Sales.End;
import io.github.lockstarter.sample.lab.Sales.Numbers;
import io.github.lockstarter.sample.lab.Sales.Result;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the answers of a shop say about its books.
 */
class SalesTests {

	private long now = 7;

	private final Sales sales = new Sales(4, () -> this.now);

	@Test
	void theRemainingPiecesSayWhichOneWasSold() {
		this.sales.start();
		for (int remaining : new int[] { 3, 2, 3, 1, 3 }) {
			this.sales.sold(remaining, 0);
		}
		assertThat(this.sales.after(0).pieces()).containsExactly(0, 1, 0, 2, 0);
		assertThat(this.sales.after(3).pieces()).containsExactly(2, 0);
		Numbers numbers = this.sales.numbers();
		assertThat(numbers.sold()).isEqualTo(5);
		assertThat(numbers.oversold()).isEqualTo(1);
		assertThat(numbers.soldTwice()).isEqualTo(1);
		assertThat(numbers.lost()).isEqualTo(2);
		assertThat(numbers.areRight()).isFalse();
	}

	@Test
	void latenciesAndRatesAreThoseOfAllAnswers() {
		this.sales.start();
		this.now += TimeUnit.SECONDS.toNanos(2);
		for (int i = 1; i <= 2000; i++) {
			this.sales.answered(Answer.BUSY, TimeUnit.MILLISECONDS.toNanos(2001 - i));
		}
		assertThat(this.sales.numbers()).isEqualTo(new Numbers(0, 0, 0, 0, 2000, 1000, 1000, 1980, 2000, 0, 0, 2.0));
		this.now += TimeUnit.SECONDS.toNanos(3);
		assertThat(this.sales.numbers().seconds()).isEqualTo(5.0);
		assertThat(this.sales.sinceLastSale()).isEqualTo(TimeUnit.SECONDS.toNanos(5));
		this.sales.end();
		assertThat(this.sales.numbers().seconds()).as("until the last answer").isEqualTo(2.0);
	}

	@Test
	void beforeTheFirstCustomerThereIsNothing() {
		assertThat(this.sales.numbers()).isEqualTo(new Numbers(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
	}

	@Test
	void lateOwnersAreTheOnesWhoseLockWasLost() {
		assertThat(Answer.of(200, "{}")).isEqualTo(Answer.SOLD);
		assertThat(Answer.of(409, "{}")).isEqualTo(Answer.SOLD_OUT);
		assertThat(Answer.of(503, "{\"detail\":\"Lock 'stock:1' did not become free\"}")).isEqualTo(Answer.BUSY);
		assertThat(Answer.of(503, "{\"detail\":\"Product '1' was sold by another owner in the meantime\"}"))
			.isEqualTo(Answer.REFUSED);
		assertThat(Answer.of(500, "{\"detail\":\"Lock 'stock:1' with fencing token 3 was lost: its lease expired\"}"))
			.isEqualTo(Answer.REFUSED);
		assertThat(Answer.of(500, "{\"detail\":\"Out of memory\"}")).isEqualTo(Answer.FAILED);
	}

	@Test
	void theVerdictIsThatOfTheBooksAndInOneSentence() {
		this.sales.start();
		this.sales.sold(3, 0);
		this.sales.sold(2, 0);
		Numbers numbers = this.sales.numbers();
		Numbers right = numbers.booked(4, 0, 0);
		assertThat(result(right, End.SOLD_OUT)).isEqualTo("right: Sold 4 of 4 pieces, each of them once");
		assertThat(result(right, End.TIME_OVER)).isEqualTo("right: Sold 4 of 4 pieces, each of them once");
		// One that was sold at last
		assertThat(result(right, End.LOCKED)).isEqualTo("right: Sold 4 of 4 pieces, each of them once");
		assertThat(result(numbers, End.TIME_OVER))
			.isEqualTo("unfinished: Sold 2 of 4 pieces, each of them once, until the time was over");
		assertThat(result(numbers, End.NO_INSTANCE))
			.isEqualTo("unfinished: Sold 2 of 4 pieces, each of them once, until no instance was left");
		assertThat(result(numbers, End.STUCK))
			.isEqualTo("unfinished: Sold 2 of 4 pieces, and then nobody bought anything for 15 seconds");
		assertThat(result(numbers, End.LOCKED))
			.isEqualTo("wrong: Sold 2 of 4 pieces, and then nobody bought anything for 15 seconds");
		assertThat(result(right, End.SOLD_OUT, 2, false))
			.isEqualTo("unfinished: Sold 4 of 4 pieces, each of them once; the fault was not reached");
		assertThat(result(right, End.SOLD_OUT, 1, true))
			.isEqualTo("right: Sold 4 of 4 pieces, each of them once; with one customer, nothing competed");
		assertThat(result(numbers.booked(3, 0, 1), End.SOLD_OUT))
			.isEqualTo("wrong: Sold 3 of 4 pieces, but 1 of these sales were overwritten");
		assertThat(result(numbers.booked(1006, 1002, 2), End.SOLD_OUT, 2, false))
			.isEqualTo("wrong: Sold 1,006 of 4 pieces: 1,002 that do not exist");
		assertThat(result(numbers.booked(5, 1, 1), End.STUCK))
			.isEqualTo("wrong: Sold 5 of 4 pieces: 1 that does not exist");
	}

	private static String result(Numbers numbers, End end) {
		return result(numbers, end, 2, true);
	}

	private static String result(Numbers numbers, End end, int users, boolean struck) {
		Result result = Result.of(new Strategy("none", "jvm", "", "wrong", null),
				new Request(List.of("none"), 1, users, 4, Fault.CRASH), numbers, end, struck, List.of());
		return result.verdict() + ": " + result.sentence();
	}

}
