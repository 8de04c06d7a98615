// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.OwnerToken;

/**
 * One lock of a {@link LockMemory}: its holders and its waiters. Guarded by the memory.
 */
final class MemoryLock {

	private final LockMemory memory;

	private final Map<OwnerToken, Lease> leases = new HashMap<>();

	private final MemoryQueue queue;

	MemoryLock(LockMemory memory) {
		this.memory = memory;
		this.queue = new MemoryQueue(memory);
	}

	MemoryQueue queue() {
		return this.queue;
	}

	boolean isIdle() {
		return isFree() && this.queue.isEmpty();
	}

	boolean isFree() {
		this.leases.values().removeIf((lease) -> lease.end - this.memory.now() <= 0);
		return this.leases.isEmpty();
	}

	boolean isShared() {
		return !isFree() && this.leases.keySet().iterator().next().mode() == LockMode.READ;
	}

	/**
	 * Grant the lock to an owner, or refuse it.
	 * @param enqueue whether a refused owner takes a place
	 * @param told collects the stores to notify
	 */
	AcquireResult acquire(MemoryPlace place, OwnerToken owner, Duration leaseTime, boolean enqueue,
			Collection<MemoryLockStore> told) {
		AcquireResult.Refusal refusal = obstacle(place, owner, told);
		if (refusal != null) {
			if (enqueue) {
				this.queue.refused(place);
			}
			return refusal;
		}
		Lease before = this.leases.get(owner);
		long base = (before != null) ? before.fencingBase : this.memory.mint();
		this.leases.put(owner, new Lease(base, this.memory.endOf(leaseTime)));
		this.queue.leave(place);
		return new AcquireResult.Grant(base);
	}

	/**
	 * Return for how long and by whom an owner is blocked, or {@code null} if it is not.
	 */
	private AcquireResult.@Nullable Refusal obstacle(MemoryPlace place, OwnerToken owner,
			Collection<MemoryLockStore> told) {
		if (isFree()) {
			Duration reserved = this.queue.precedenceOver(place, told);
			return (reserved != null) ? new AcquireResult.Refusal(reserved, null) : null;
		}
		boolean held = this.leases.containsKey(owner);
		boolean shareable = owner.mode() == LockMode.READ && isShared() && !this.queue.isBehindWriter(place);
		if (held || shareable) {
			return null;
		}
		if (this.leases.isEmpty()) {
			// The last lease has ended in the meantime
			return obstacle(place, owner, told);
		}
		Map.Entry<OwnerToken, Lease> last = Collections.max(this.leases.entrySet(),
				Comparator.comparingLong((lease) -> lease.getValue().end - this.memory.now()));
		return new AcquireResult.Refusal(Duration.ofNanos(last.getValue().end - this.memory.now()),
				last.getKey().toString());
	}

	boolean renew(OwnerToken owner, Duration leaseTime) {
		Lease before = isFree() ? null : this.leases.get(owner);
		if (before == null) {
			return false;
		}
		if (!leaseTime.isZero()) {
			this.leases.put(owner, new Lease(before.fencingBase, this.memory.endOf(leaseTime)));
		}
		return true;
	}

	/**
	 * Keep the lock without an owner.
	 * @return whether the owner held it, or has already had it kept
	 */
	boolean keep(OwnerToken owner, Duration time) {
		OwnerToken kept = owner.kept();
		if (isFree() || isShared()) {
			return false;
		}
		Lease before = this.leases.remove(owner);
		if (before != null) {
			this.leases.put(kept, new Lease(before.fencingBase, this.memory.endOf(time)));
		}
		return this.leases.containsKey(kept);
	}

	/**
	 * Release the lock.
	 * @return whether the owner held it
	 */
	boolean release(OwnerToken owner) {
		return !isFree() && this.leases.remove(owner) != null;
	}

	LockInspection.State state() {
		if (isIdle()) {
			return LockInspection.State.UNKNOWN;
		}
		List<LockInspection.Holder> holders = new ArrayList<>();
		long last = 0;
		for (Map.Entry<OwnerToken, Lease> each : this.leases.entrySet()) {
			long token = LockInspection.tokenOf(each.getValue().fencingBase);
			holders.add(LockInspection.Holder.of(each.getKey().value(), isShared() ? LockMode.READ : LockMode.EXCLUSIVE,
					Duration.ofNanos(each.getValue().end - this.memory.now()), token));
			last = Math.max(last, token);
		}
		return new LockInspection.State(holders, last, this.queue.names());
	}

	/**
	 * Take the lock from the owner that has it by a grant.
	 * @return whether there was such an owner
	 */
	boolean free(long fencingBase) {
		return !isFree() && this.leases.values().removeIf((lease) -> lease.fencingBase == fencingBase);
	}

	private record Lease(long fencingBase, long end) {
	}

}
