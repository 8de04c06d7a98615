// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.OwnerToken;

/**
 * The lock in the hands of an owner, until its lease ends. A session may last longer than
 * a lease, so this JVM itself ends it.
 */
final class Holding {

	private final OwnerToken owner;

	private final OwnNode node;

	private final long fencingBase;

	private @Nullable Runnable expired;

	private long end;

	private long alarmAt;

	private @Nullable CompletableFuture<Void> alarm;

	private boolean over;

	Holding(OwnerToken owner, OwnNode node, long fencingBase) {
		this.owner = owner;
		this.node = node;
		this.fencingBase = fencingBase;
	}

	/**
	 * Begin the lease.
	 * @param expired called when the lease ends, on a thread that must not block
	 */
	synchronized void begin(Duration leaseTime, Runnable expired) {
		this.expired = expired;
		extend(leaseTime);
	}

	static boolean isShared(OwnerToken owner) {
		return owner.mode() == LockMode.READ;
	}

	OwnerToken owner() {
		return this.owner;
	}

	OwnNode node() {
		return this.node;
	}

	long fencingBase() {
		return this.fencingBase;
	}

	/**
	 * Let the lease end so long from now.
	 * @param leaseTime the lease time; zero changes nothing
	 */
	synchronized void extend(Duration leaseTime) {
		if (!leaseTime.isZero() && !this.over) {
			this.end = System.nanoTime() + leaseTime.toNanos();
			if (this.alarm == null || this.end - this.alarmAt < 0) {
				setAlarm();
			}
		}
	}

	synchronized long remainingNanos() {
		return this.over ? 0 : this.end - System.nanoTime();
	}

	boolean isOver() {
		return remainingNanos() <= 0;
	}

	/**
	 * End the holding.
	 */
	synchronized void end() {
		this.over = true;
		cancelAlarm();
	}

	private void setAlarm() {
		cancelAlarm();
		CompletableFuture<Void> alarm = Alarms.after(this.end - System.nanoTime(), TimeUnit.NANOSECONDS);
		this.alarm = alarm;
		this.alarmAt = this.end;
		alarm.thenRun(() -> ring(alarm));
	}

	private void cancelAlarm() {
		CompletableFuture<Void> alarm = this.alarm;
		this.alarm = null;
		if (alarm != null) {
			alarm.cancel(false);
		}
	}

	private void ring(CompletableFuture<Void> alarm) {
		Runnable expired;
		synchronized (this) {
			if (this.alarm != alarm) {
				return;
			}
			if (this.end - System.nanoTime() > 0) {
				// The lease was extended
				setAlarm();
				return;
			}
			this.alarm = null;
			expired = this.expired;
		}
		if (expired != null) {
			expired.run();
		}
	}

}
