// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.engine.ModelDesk.ModelWaiter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A reader that wants to join while the lease of the other readers is uncertain for a
 * moment: the store has answered that no writer waits, but not to a renewal.
 */
class DoubtfulReaderTests {

	private static final Duration SLICE = Duration.ofSeconds(1);

	private final ModelDesk desk = new ModelDesk(SLICE);

	private final Tenure tenure = this.desk.hold(this.desk.come(LockMode.READ)).tenure();

	private ModelWaiter late;

	@BeforeEach
	void aReaderComesAndTheLeaseBecomesUncertain() {
		this.desk.pass(SLICE);
		this.desk.putOffAnswers();
		this.late = this.desk.come(LockMode.READ);
		this.tenure.certainty().suspect();
	}

	@Test
	void itJoinsWhenTheDoubtIsOver() {
		this.desk.answer();
		assertThat(this.late.outcome()).isNull();
		this.desk.lookAgain();
		assertThat(this.late.outcome()).isNull();
		this.tenure.certainty().confirmed(0);
		this.desk.lookAgain();
		assertThat(this.desk.hold(this.late).tenure()).isSameAs(this.tenure);
	}

	@Test
	void itDoesNotWaitForLongerThanItsWaitTimeWhileItAsks() {
		this.tenure.certainty().confirmed(0);
		this.desk.timeOut(this.late);
		this.tenure.certainty().suspect();
		assertThat(this.late.outcome()).isNull();
		this.desk.answer();
		assertThat(Denial.isContention(this.late.outcome())).isTrue();
	}

	@Test
	void itDoesNotWaitForLongerThanItsWaitTimeAfterTheAnswer() {
		this.desk.answer();
		assertThat(this.late.outcome()).isNull();
		this.desk.timeOut(this.late);
		assertThat(Denial.isContention(this.late.outcome())).isTrue();
	}

}
