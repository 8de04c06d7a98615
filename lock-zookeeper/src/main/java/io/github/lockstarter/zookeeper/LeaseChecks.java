// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.store.LeaseRequest;

/**
 * Renewals of leases: one write checks whether the nodes of many owners exist.
 */
final class LeaseChecks {

	private final LockSession session;

	LeaseChecks(LockSession session) {
		this.session = session;
	}

	/**
	 * Renew leases.
	 * @return for each request, whether the owner holds the lock
	 */
	List<CompletableFuture<Boolean>> renew(List<LeaseRequest> requests) {
		List<Check> checks = requests.stream().map(this::check).toList();
		send(checks.stream().filter(Predicate.not(Check::isAnswered)).toList());
		return checks.stream().map(Check::answer).toList();
	}

	private Check check(LeaseRequest request) {
		LockLine line = this.session.line(request.key());
		Holding holding = (line != null) ? line.holdingOf(request.owner()) : null;
		Check check = new Check(request, holding, new CompletableFuture<>());
		if (holding == null || holding.isOver()) {
			check.answer().complete(false);
		}
		return check;
	}

	private void send(List<Check> checks) {
		if (!checks.isEmpty()) {
			this.session.requests()
				.check(checks.stream().map(Check::path).toList())
				.whenComplete((present, ex) -> answered(checks, present, ex));
		}
	}

	private void answered(List<Check> checks, @Nullable Integer present, @Nullable Throwable failure) {
		if (present == null) {
			checks.forEach((check) -> fail(check, failure));
		}
		else if (present == checks.size()) {
			checks.forEach(Check::renewed);
		}
		else {
			lost(checks.get(present));
			List<Check> rest = new ArrayList<>(checks);
			rest.remove((int) present);
			send(rest);
		}
	}

	private void fail(Check check, @Nullable Throwable failure) {
		if (this.session.requests().channel().isOver()) {
			check.answer().complete(false);
		}
		else {
			check.answer()
				.completeExceptionally(
						(failure != null) ? failure : new IllegalStateException("ZooKeeper gave no answer"));
		}
	}

	private void lost(Check check) {
		Holding holding = check.holding();
		if (holding != null) {
			this.session.ask(check.request().key(), (line) -> CompletableFuture.completedFuture(line.lose(holding)));
		}
		check.answer().complete(false);
	}

	private record Check(LeaseRequest request, @Nullable Holding holding, CompletableFuture<Boolean> answer) {

		boolean isAnswered() {
			return this.answer.isDone();
		}

		String path() {
			return held().node().path();
		}

		void renewed() {
			held().extend(this.request.leaseTime());
			this.answer.complete(!held().isOver());
		}

		private Holding held() {
			Holding holding = this.holding;
			if (holding == null) {
				throw new IllegalStateException("Nothing is held");
			}
			return holding;
		}

	}

}
