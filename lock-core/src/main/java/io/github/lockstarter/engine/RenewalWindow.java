// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/**
 * The renewals of one server: those to be sent, and the number of those without an answer
 * yet. The latter is limited, so that a slow server is not flooded.
 */
final class RenewalWindow {

	static final int BATCH_SIZE = 100;

	static final int SIZE = 40 * BATCH_SIZE;

	private final Queue<Renewal> waiting = new ArrayDeque<>();

	private int unanswered;

	private boolean sending;

	synchronized RenewalWindow add(List<Renewal> renewals) {
		this.waiting.addAll(renewals);
		return this;
	}

	/**
	 * Return whether the caller must send now.
	 */
	synchronized boolean beginSending() {
		if (this.sending || !canSend()) {
			return false;
		}
		this.sending = true;
		return true;
	}

	/**
	 * Return the renewals to send next; if there are none, the caller's task ends.
	 */
	synchronized List<Renewal> next() {
		List<Renewal> batch = new ArrayList<>();
		while (canSend() && batch.size() < BATCH_SIZE) {
			Renewal renewal = this.waiting.remove();
			if (renewal.tenure().certainty().isOver()) {
				renewal.answered(false, Duration.ZERO, null);
			}
			else {
				batch.add(renewal);
				this.unanswered++;
			}
		}
		this.sending = !batch.isEmpty();
		return batch;
	}

	synchronized void answered(int renewals) {
		this.unanswered -= renewals;
	}

	synchronized boolean isIdle() {
		return this.waiting.isEmpty() && this.unanswered == 0 && !this.sending;
	}

	private boolean canSend() {
		return !this.waiting.isEmpty() && this.unanswered < SIZE;
	}

}
