// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.OwnerToken;

/**
 * One lock as its row says, and how requests change it.
 */
final class LockState {

	private final long now;

	private final LockRow before;

	private final Readers readers;

	private final Line line;

	private @Nullable String owner;

	private long expiresAt;

	private long fence;

	private boolean leased;

	private LockState(LockRow row, long now) {
		this.now = now;
		this.before = row;
		this.owner = row.owner();
		this.expiresAt = row.expiresAt();
		this.fence = row.fence();
		this.readers = Readers.read(row.line());
		this.line = new Line(LineEntry.readAll(row.line()), now, row.toldAt());
		this.readers.expire(now);
		if (this.expiresAt <= now || (isShared() && this.readers.isEmpty())) {
			this.owner = null;
			this.readers.clear();
		}
	}

	/**
	 * Read the columns of {@link LockSql#select()}.
	 */
	static LockState read(ResultSet row, Dialect dialect) throws SQLException {
		return new LockState(LockRow.read(row), dialect.readClock(row, 6));
	}

	Line line() {
		return this.line;
	}

	long fence() {
		return this.fence;
	}

	boolean isFree() {
		return this.owner == null;
	}

	boolean isShared() {
		return LockRow.SHARED.equals(this.owner);
	}

	/**
	 * Return whether an owner holds the lock.
	 */
	boolean isHeldBy(OwnerToken owner) {
		return (owner.mode() == LockMode.READ) ? this.readers.contains(owner) : owner.value().equals(this.owner);
	}

	/**
	 * Return whether requests for an exclusive lock need not look at a line.
	 */
	boolean isPlain() {
		return this.before.line() == null;
	}

	AcquireResult.Refusal refusal() {
		return refusal(this.expiresAt);
	}

	private AcquireResult.Refusal refusal(long until) {
		String holder = isShared() ? this.readers.last() : this.owner;
		return new AcquireResult.Refusal(remaining(until), (holder != null) ? OwnerToken.holder(holder) : null);
	}

	private Duration remaining(long until) {
		return Duration.of(Math.max(0, until - this.now), ChronoUnit.MICROS);
	}

	/**
	 * Grant the lock to an owner, or refuse it.
	 * @param pace for how long a free lock is reserved for the place that a refused owner
	 * takes, in microseconds; 0 if it takes none
	 */
	AcquireResult acquire(String jvm, OwnerToken owner, Duration leaseTime, long pace) {
		Spot spot = Spot.of(jvm, owner);
		Long obstacle = obstacle(spot, owner);
		if (obstacle == null) {
			return grant(spot, owner, leaseTime);
		}
		if (pace > 0) {
			this.line.refused(spot, pace);
		}
		return refusal(obstacle);
	}

	/**
	 * Return until when an owner is blocked, or {@code null} if it is not.
	 */
	private @Nullable Long obstacle(Spot spot, OwnerToken owner) {
		if (isFree()) {
			return this.line.reservedUntil(spot);
		}
		boolean shareable = spot.shared() && isShared() && !this.line.isBehindWriter(spot.jvm());
		return (isHeldBy(owner) || shareable) ? null : (Long) this.expiresAt;
	}

	private AcquireResult.Grant grant(Spot spot, OwnerToken owner, Duration leaseTime) {
		boolean again = isHeldBy(owner);
		// The base of a reader that asks again may be that of another reader by now
		if (!again || spot.shared()) {
			this.fence = Math.max(this.fence + 1, this.now - LockSql.EPOCH);
		}
		setLease(owner, leaseTime);
		this.line.leave(spot);
		return new AcquireResult.Grant(this.fence);
	}

	private void setLease(OwnerToken owner, Duration leaseTime) {
		this.leased = true;
		long end = this.now + TimeUnit.MICROSECONDS.convert(leaseTime);
		if (owner.mode() == LockMode.READ) {
			this.owner = LockRow.SHARED;
			this.readers.put(owner, end);
			this.expiresAt = this.readers.lastEnd();
		}
		else {
			this.owner = owner.value();
			this.expiresAt = end;
		}
	}

	/**
	 * Extend the lease of an owner, or with a lease time of zero only check it.
	 * @return whether the owner holds the lock
	 */
	boolean renew(OwnerToken owner, Duration leaseTime) {
		boolean held = isHeldBy(owner);
		if (held && !leaseTime.isZero()) {
			setLease(owner, leaseTime);
		}
		return held;
	}

	/**
	 * Keep the lock without an owner.
	 * @return whether the owner held it, or has already had it kept
	 */
	boolean keep(OwnerToken owner, Duration time) {
		String kept = owner.kept().value();
		if (owner.mode() != LockMode.READ && isHeldBy(owner)) {
			this.leased = true;
			this.owner = kept;
			this.expiresAt = this.now + TimeUnit.MICROSECONDS.convert(time);
		}
		return kept.equals(this.owner);
	}

	/**
	 * Release the lock for an owner, and tell the first waiter if it is free.
	 * @return whether the owner held it
	 */
	boolean release(String jvm, OwnerToken owner) {
		if (!isHeldBy(owner)) {
			return false;
		}
		this.readers.remove(owner);
		if (!this.readers.isEmpty()) {
			this.expiresAt = this.readers.lastEnd();
			return true;
		}
		this.owner = null;
		this.line.wake(jvm);
		return true;
	}

	/**
	 * Take the lock from all who have it by the last grant, and tell the first waiter.
	 * @return whether there were such owners
	 */
	boolean free(String jvm, long fencingBase) {
		if (isFree() || this.fence != fencingBase) {
			return false;
		}
		this.readers.clear();
		this.owner = null;
		this.line.wake(jvm);
		return true;
	}

	/**
	 * Return what a person can read.
	 */
	LockInspection.State show() {
		List<LockInspection.Holder> holders = new ArrayList<>();
		if (isShared()) {
			this.readers.forEach((reader, end) -> holders.add(holder(reader, LockMode.READ, end)));
		}
		else if (this.owner != null) {
			holders.add(holder(this.owner, LockMode.EXCLUSIVE, this.expiresAt));
		}
		return new LockInspection.State(holders, LockInspection.tokenOf(this.fence), this.line.names());
	}

	private LockInspection.Holder holder(String owner, LockMode mode, long end) {
		return LockInspection.Holder.of(owner, mode, remaining(end), null);
	}

	/**
	 * Take a place out of the line, and tell those that can have the lock by that.
	 */
	void withdraw(Spot spot) {
		boolean turn = this.line.withdraw(spot);
		if (isShared()) {
			this.line.tellReaders(0);
		}
		if (turn && isFree()) {
			this.line.wake(spot.jvm());
		}
	}

	/**
	 * Return whether a lease was granted, extended or kept since the row was read.
	 */
	boolean isLeased() {
		return this.leased;
	}

	/**
	 * Return the changed row, or {@code null} if nothing has changed.
	 */
	@Nullable LockRow changed() {
		LockRow after = new LockRow(this.owner, this.expiresAt, this.fence, lineText(), this.line.lastTold());
		if (after.equals(this.before)) {
			return null;
		}
		// From now on the row is idle
		return isFree() ? after.expiredAt(this.now) : after;
	}

	private @Nullable String lineText() {
		String text = Stream.concat(this.readers.write(), this.line.places().stream().map(LineEntry::write))
			.collect(Collectors.joining("\n"));
		return text.isEmpty() ? null : text;
	}

}
