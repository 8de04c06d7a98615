// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.OwnerToken;

/**
 * Shows the locks in Redis. A lock is freed by a release on behalf of the owner that was
 * seen together with the fencing base: a later owner has another token.
 */
final class RedisInspection implements LockInspection {

	/** The answer of PTTL for a key that does not exist. */
	static final long FREE = -2;

	private final ScriptConnection scripts;

	private final LockScriptCalls calls;

	RedisInspection(ScriptConnection scripts, LockScriptCalls calls) {
		this.scripts = scripts;
		this.calls = calls;
	}

	@Override
	public CompletionStage<State> inspect(LockKey key) {
		return find(key).thenApply(Findings::state);
	}

	@Override
	public CompletionStage<Boolean> free(LockKey key, long fencingToken) {
		return find(key).thenCompose((found) -> {
			boolean own = found.owners.stream().noneMatch((owner) -> OwnerToken.isForeign(owner.token.value()));
			if (!own || found.owners.isEmpty() || found.fencingBase != LockInspection.baseOf(fencingToken)) {
				return CompletableFuture.completedFuture(false);
			}
			CompletionStage<Boolean> freed = CompletableFuture.completedFuture(false);
			for (Owner owner : found.owners) {
				// Not remembered: the owner must learn that it has lost the lock
				freed = freed.thenCombine(this.scripts.send(() -> this.calls.release(key, owner.token, false),
						(Long answer) -> answer != 0), Boolean::logicalOr);
			}
			return freed;
		});
	}

	private CompletableFuture<Findings> find(LockKey key) {
		return this.scripts.send(() -> this.calls.inspect(key), Findings::of);
	}

	/**
	 * What the script has found.
	 */
	private record Findings(long fencingBase, List<Owner> owners, List<String> waiters) {

		static Findings of(List<Object> answer) {
			List<Owner> owners = new ArrayList<>();
			String value = text(answer.get(2));
			int places = 4 + 2 * (int) (long) answer.get(3);
			for (int i = 4; i < places; i += 2) {
				owners.add(Owner.of(text(answer.get(i)), LockMode.READ, (long) answer.get(i + 1)));
			}
			long remaining = (long) answer.get(1);
			// The value of another program may be empty
			if (owners.isEmpty() && remaining != FREE) {
				owners.add(Owner.of(value, LockMode.EXCLUSIVE, remaining));
			}
			List<String> waiters = answer.subList(places, answer.size()).stream().map(Findings::waiter).toList();
			return new Findings((long) answer.get(0), owners, waiters);
		}

		/**
		 * Return the instance that a place belongs to, as queue.lua describes it.
		 */
		private static String waiter(Object place) {
			String id = text(place).split(":", 2)[0];
			return (id.startsWith(".") && id.lastIndexOf('.') > 0)
					? id.substring(1, id.lastIndexOf('.')).replace('/', ':') : id;
		}

		private static String text(Object answer) {
			return new String((byte[]) answer, StandardCharsets.UTF_8);
		}

		State state() {
			return new State(this.owners.stream().map(Owner::holder).toList(), LockInspection.tokenOf(this.fencingBase),
					this.waiters);
		}

	}

	private record Owner(OwnerToken token, @Nullable Duration remaining) {

		static Owner of(String value, LockMode mode, long millis) {
			return new Owner(new OwnerToken(value, mode), (millis >= 0) ? Duration.ofMillis(millis) : null);
		}

		Holder holder() {
			return Holder.of(this.token.value(), this.token.mode(), this.remaining, null);
		}

	}

}
