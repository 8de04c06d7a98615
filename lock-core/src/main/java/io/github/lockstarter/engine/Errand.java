// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * A request that a waiting caller leaves behind, to be sent at most once by whoever wakes
 * it. The caller always learns whether that has happened.
 */
final class Errand {

	private final Thread caller;

	private final Supplier<@Nullable SentRequest> request;

	private final AtomicBoolean taken = new AtomicBoolean();

	private final CompletableFuture<@Nullable SentRequest> sent = new CompletableFuture<>();

	Errand(Thread caller, Supplier<@Nullable SentRequest> request) {
		this.caller = caller;
		this.request = request;
	}

	Thread caller() {
		return this.caller;
	}

	/**
	 * Send the request, and wake the caller when it is answered.
	 * @return false if that was done before or cannot be done here
	 */
	boolean run() {
		if (!this.taken.compareAndSet(false, true)) {
			return false;
		}
		SentRequest request = null;
		try {
			request = this.request.get();
		}
		finally {
			this.sent.complete(request);
		}
		if (request == null) {
			return false;
		}
		request.answer().whenComplete((answer, ex) -> LockSupport.unpark(this.caller));
		return true;
	}

	boolean isTaken() {
		return this.taken.get();
	}

	/**
	 * Take the errand back.
	 * @return the request, if it was sent before
	 */
	@Nullable SentRequest end() {
		return this.taken.compareAndSet(false, true) ? null : this.sent.join();
	}

}
