// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/**
 * The renewals of one server: those that wait to be sent, and how many wait for an
 * answer. There is a limit to the latter, so that a server that is slow is not buried.
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
	 * Return whether the caller is the one that has to send now.
	 */
	synchronized boolean beginSending() {
		if (this.sending || !canSend()) {
			return false;
		}
		this.sending = true;
		return true;
	}

	/**
	 * Return what to send next; if that is nothing, the caller's task ends.
	 */
	synchronized List<Renewal> next() {
		List<Renewal> batch = new ArrayList<>();
		while (canSend() && batch.size() < BATCH_SIZE) {
			Renewal renewal = this.waiting.remove();
			if (renewal.tenure().certainty().isOver()) {
				renewal.answered(false, null);
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
