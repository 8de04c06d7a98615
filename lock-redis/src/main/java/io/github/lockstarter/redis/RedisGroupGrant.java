// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.GroupGrant;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;

/**
 * Grants several locks by one script, which can use only keys of one slot.
 */
final class RedisGroupGrant implements GroupGrant {

	private final ScriptConnection scripts;

	private final LockScriptCalls calls;

	RedisGroupGrant(ScriptConnection scripts, LockScriptCalls calls) {
		this.scripts = scripts;
		this.calls = calls;
	}

	@Override
	public boolean isPossibleFor(Collection<LockKey> keys) {
		try {
			return !this.scripts.isCluster() || ClusterSlotHashUtil
				.isSameSlotForAllKeys(keys.stream().map(this.calls::lock).toArray(byte[][]::new));
		}
		catch (RuntimeException ex) {
			// Without a connection the request for a single lock reports the failure
			return false;
		}
	}

	@Override
	public CompletionStage<List<LockAttempt.Grant>> acquire(List<LeaseRequest> requests) {
		return this.scripts.send(() -> this.calls.acquireAll(requests), RedisGroupGrant::grants);
	}

	private static List<LockAttempt.Grant> grants(List<Long> answer) {
		return IntStream.range(0, answer.size() / 2)
			.mapToObj((i) -> new LockAttempt.Grant(answer.get(2 * i), answer.get(2 * i + 1) > 0))
			.toList();
	}

}
