// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import io.github.lockstarter.LockKey;

/**
 * Keeps locks in a map. It shows what every store has to do; a real one keeps them where
 * all instances of the application can see them.
 */
final class MapLockStore extends BlockingLockStore {

	private final ConcurrentMap<LockKey, Holder> holders = new ConcurrentHashMap<>();

	/** One number for all locks grows for each of them. */
	private final AtomicLong fencingBase = new AtomicLong();

	private final LongSupplier nanoTime;

	/**
	 * Create a store without locks.
	 * @param nanoTime the one clock by which all leases end
	 */
	MapLockStore(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
	}

	@Override
	public String name() {
		return "map";
	}

	@Override
	protected AcquireResult tryAcquire(LeaseRequest request) {
		long now = this.nanoTime.getAsLong();
		Holder holder = this.holders.compute(request.key(), (key, current) -> {
			if (current == null || current.isOver(now)) {
				return new Holder(request.owner(), this.fencingBase.incrementAndGet(), end(request, now));
			}
			return current.is(request.owner()) ? current.until(end(request, now)) : current;
		});
		if (holder.is(request.owner())) {
			return new AcquireResult.Grant(holder.fencingBase());
		}
		return new AcquireResult.Refusal(Duration.ofNanos(holder.end() - now), holder.owner().toString());
	}

	@Override
	protected boolean tryRenew(LeaseRequest request) {
		long now = this.nanoTime.getAsLong();
		Holder holder = this.holders.computeIfPresent(request.key(), (key, current) -> {
			if (current.isOver(now)) {
				return null;
			}
			boolean extended = current.is(request.owner()) && !request.leaseTime().isZero();
			return extended ? current.until(end(request, now)) : current;
		});
		return holder != null && holder.is(request.owner());
	}

	@Override
	protected boolean tryRelease(LockKey key, OwnerToken owner) {
		long now = this.nanoTime.getAsLong();
		AtomicBoolean released = new AtomicBoolean();
		this.holders.computeIfPresent(key, (sameKey, current) -> {
			released.set(current.is(owner) && !current.isOver(now));
			return (released.get() || current.isOver(now)) ? null : current;
		});
		return released.get();
	}

	private static long end(LeaseRequest request, long now) {
		return now + request.leaseTime().toNanos();
	}

	/**
	 * The owner of a lock, the number of its grant, and the end of its lease.
	 */
	private record Holder(OwnerToken owner, long fencingBase, long end) {

		boolean is(OwnerToken owner) {
			return this.owner.value().equals(owner.value());
		}

		boolean isOver(long now) {
			return this.end - now <= 0;
		}

		Holder until(long end) {
			return new Holder(this.owner, this.fencingBase, end);
		}

	}

}
