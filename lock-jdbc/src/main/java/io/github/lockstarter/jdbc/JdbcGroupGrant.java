// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletionStage;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.GroupGrant;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;

/**
 * Grants several locks in one transaction.
 */
final class JdbcGroupGrant implements GroupGrant {

	private final LockRows rows;

	private final JvmId jvm;

	JdbcGroupGrant(LockRows rows, JvmId jvm) {
		this.rows = rows;
		this.jvm = jvm;
	}

	@Override
	public boolean isPossibleFor(Collection<LockKey> keys) {
		return true;
	}

	@Override
	public CompletionStage<List<LockAttempt.Grant>> acquire(List<LeaseRequest> requests) {
		List<LockKey> keys = requests.stream().map(LeaseRequest::key).toList();
		return Answer.of(() -> this.rows.changeAll(keys, (states) -> grant(requests, states)));
	}

	private List<LockAttempt.Grant> grant(List<LeaseRequest> requests, List<LockState> states) {
		for (int i = 0; i < requests.size(); i++) {
			if (!states.get(i).isFreeFor(this.jvm.get(), requests.get(i).owner())) {
				return List.of();
			}
		}
		List<LockAttempt.Grant> grants = new ArrayList<>();
		for (int i = 0; i < requests.size(); i++) {
			LeaseRequest request = requests.get(i);
			grants.add(
					(LockAttempt.Grant) states.get(i).acquire(this.jvm.get(), request.owner(), request.leaseTime(), 0));
		}
		return grants;
	}

}
