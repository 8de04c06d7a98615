// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;

/**
 * Builds the script calls of one instance; {@code queue.lua} explains the words.
 */
final class LockScriptCalls {

	/** Waiters ask at least every few seconds, so an idle queue has no waiters. */
	private static final byte[] QUEUE_RETENTION = bytes("60000");

	/**
	 * FAIR waiters behind a local holder do not poll, so their places live longer.
	 */
	private static final byte[] FAIR_QUEUE_RETENTION = bytes("3600000");

	private static final byte[] YES = bytes("1");

	private static final byte[] NO = bytes("0");

	private static final byte[] NONE = bytes("");

	private final RedisLockKeys keys;

	private final byte[] fenceRetention;

	private final byte[] channelPrefix;

	private final BooleanSupplier cluster;

	private final Distance distance;

	private final String randomId;

	private volatile Instance instance;

	/**
	 * Create the calls of an instance.
	 * @param cluster whether a server does not know all listeners; called late, because
	 * it may connect
	 * @param distance the distance to the server
	 * @param randomId what distinguishes the instance from others of its name
	 */
	LockScriptCalls(RedisLockKeys keys, Duration fenceRetention, BooleanSupplier cluster, Distance distance,
			String randomId) {
		this.keys = keys;
		this.fenceRetention = millis(fenceRetention);
		this.channelPrefix = bytes(keys.channelPrefix());
		this.cluster = cluster;
		this.distance = distance;
		this.randomId = randomId;
		this.instance = Instance.of(OwnerToken.instance(null), randomId);
	}

	void setInstance(String name) {
		this.instance = Instance.of(name, this.randomId);
	}

	/**
	 * Return the id of the instance, as queue.lua describes it.
	 */
	String id() {
		return this.instance.id;
	}

	byte[] lock(LockKey key) {
		return bytes(this.keys.lock(key));
	}

	/**
	 * Return a call that acquires a lock.
	 * @param inLine whether a refused owner or instance is put into the queue
	 */
	ScriptCall acquire(LeaseRequest request, boolean inLine) {
		LockKey key = request.key();
		OwnerToken owner = request.owner();
		Duration leaseTime = request.leaseTime();
		byte[][] lockKeys = allKeys(key);
		byte[] place = place(owner);
		return switch (owner.mode()) {
			case EXCLUSIVE, WRITE -> new ScriptCall(LockScript.ACQUIRE, lockKeys, bytes(owner.value()),
					millis(leaseTime), this.fenceRetention, this.instance.place, place, need(inLine), QUEUE_RETENTION);
			case FAIR -> new ScriptCall(LockScript.ACQUIRE_FAIR, lockKeys, bytes(owner.value()), millis(leaseTime),
					this.fenceRetention, this.instance.place, place, need(inLine), FAIR_QUEUE_RETENTION,
					this.channelPrefix, bytes(key.toString()), listenersKnown(), this.distance.shortestTurn());
			case READ -> new ScriptCall(LockScript.ACQUIRE_SHARED, lockKeys, bytes(owner.value()), millis(leaseTime),
					this.fenceRetention, this.instance.place, place, need(inLine), QUEUE_RETENTION, this.channelPrefix,
					listenersKnown());
		};
	}

	private byte[][] allKeys(LockKey key) {
		String lock = this.keys.lock(key);
		return keys(lock, this.keys.queue(lock), this.keys.turn(lock), this.keys.fence(lock), this.keys.readers(lock));
	}

	/**
	 * Return a call that renews many leases of one lease time, either all shared or all
	 * exclusive. With a lease time of zero, it only checks whether the owners hold their
	 * locks.
	 */
	ScriptCall renew(List<LeaseRequest> requests) {
		boolean shared = requests.get(0).owner().mode() == LockMode.READ;
		int number = requests.size();
		byte[][] locks = new byte[(shared ? 3 : 2) * number][];
		byte[][] arguments = new byte[number + 2][];
		arguments[0] = millis(requests.get(0).leaseTime());
		arguments[1] = this.fenceRetention;
		for (int i = 0; i < number; i++) {
			String lock = this.keys.lock(requests.get(i).key());
			locks[shared ? 3 * i : i] = bytes(lock);
			locks[shared ? 3 * i + 2 : number + i] = bytes(this.keys.fence(lock));
			if (shared) {
				locks[3 * i + 1] = bytes(this.keys.readers(lock));
			}
			arguments[i + 2] = bytes(requests.get(i).owner().value());
		}
		return new ScriptCall(shared ? LockScript.RENEW_SHARED : LockScript.RENEW, locks, arguments);
	}

	ScriptCall keep(LockKey key, OwnerToken owner, Duration time) {
		return new ScriptCall(LockScript.KEEP, keys(this.keys.lock(key)), bytes(owner.value()), millis(time));
	}

	/**
	 * Return a call that releases a lock.
	 * @param remembered whether the server remembers the release for a while, because the
	 * driver may repeat the call unnoticed
	 */
	ScriptCall release(LockKey key, OwnerToken owner, boolean remembered) {
		String lock = this.keys.lock(key);
		boolean shared = owner.mode() == LockMode.READ;
		byte[][] lockKeys = shared ? keys(lock, this.keys.queue(lock), this.keys.turn(lock), this.keys.readers(lock))
				: keys(lock, this.keys.queue(lock), this.keys.turn(lock));
		if (remembered) {
			lockKeys = Arrays.copyOf(lockKeys, lockKeys.length + 1);
			lockKeys[lockKeys.length - 1] = bytes(this.keys.released(lock, owner));
		}
		return new ScriptCall(shared ? LockScript.RELEASE_SHARED : LockScript.RELEASE, lockKeys, bytes(owner.value()),
				this.instance.place, this.channelPrefix, bytes(key.toString()), listenersKnown(),
				this.distance.shortestTurn());
	}

	ScriptCall enter(LockKey key, OwnerToken owner) {
		return new ScriptCall(LockScript.ARRIVE, keys(this.keys.queue(this.keys.lock(key))), this.instance.place,
				place(owner), FAIR_QUEUE_RETENTION, this.distance.need());
	}

	ScriptCall withdraw(LockKey key, @Nullable OwnerToken owner) {
		String lock = this.keys.lock(key);
		return new ScriptCall(LockScript.WITHDRAW, keys(lock, this.keys.queue(lock), this.keys.turn(lock)),
				this.instance.place, (owner != null) ? place(owner) : this.instance.place, this.channelPrefix,
				bytes(key.toString()), listenersKnown(), this.distance.shortestTurn());
	}

	ScriptCall inspect(LockKey key) {
		return new ScriptCall(LockScript.INSPECT, allKeys(key));
	}

	/**
	 * Return the name of a place in the queue, as queue.lua describes it.
	 */
	private byte[] place(OwnerToken owner) {
		return switch (owner.mode()) {
			case EXCLUSIVE, WRITE -> this.instance.place;
			case READ -> this.instance.sharedPlace;
			case FAIR -> bytes(id() + ':' + owner.value().substring(owner.value().lastIndexOf('.') + 1));
		};
	}

	private byte[] need(boolean inLine) {
		return inLine ? this.distance.need() : NONE;
	}

	private byte[] listenersKnown() {
		return flag(!this.cluster.getAsBoolean());
	}

	private static byte[] flag(boolean value) {
		return value ? YES : NO;
	}

	private static byte[] millis(Duration duration) {
		return bytes(Long.toString(duration.toMillis()));
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static byte[][] keys(String... texts) {
		byte[][] bytes = new byte[texts.length][];
		for (int i = 0; i < texts.length; i++) {
			bytes[i] = bytes(texts[i]);
		}
		return bytes;
	}

	/**
	 * The id of an instance, with its exclusive and its shared place.
	 */
	private record Instance(String id, byte[] place, byte[] sharedPlace) {

		static Instance of(String name, String random) {
			String id = '.' + name.replace(':', '/') + '.' + random;
			return new Instance(id, bytes(id), bytes(id + ":read"));
		}

	}

}
