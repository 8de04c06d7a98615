// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Renewals that have become due together. Until they are answered, one alarm watches all
 * deadlines: an alarm for each would cost more than the renewals themselves.
 */
final class RenewalRound {

	private final List<Renewal> renewals;

	private final Timetable timetable;

	private final AtomicInteger unanswered;

	private final Timetable.Entry alarm;

	private RenewalRound(List<Renewal> renewals, Timetable timetable) {
		this.renewals = renewals;
		this.timetable = timetable;
		this.unanswered = new AtomicInteger(renewals.size());
		long first = renewals.get(0).tenure().deadline();
		for (Renewal renewal : renewals) {
			first += Math.min(0, renewal.tenure().deadline() - first);
			renewal.setRound(this);
		}
		this.alarm = timetable.at(first, this::watchEach);
	}

	static void begin(List<Renewal> renewals, Timetable timetable) {
		new RenewalRound(renewals, timetable);
	}

	/**
	 * Note that one of them is answered.
	 */
	void answered() {
		if (this.unanswered.decrementAndGet() == 0) {
			this.timetable.cancel(this.alarm);
		}
	}

	private void watchEach() {
		this.renewals.stream().filter((renewal) -> !renewal.isAnswered()).forEach(Renewal::overdue);
	}

}
