// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.DefaultMessage;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.engine.Time;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;

/**
 * A Redis server of a simulated world. An instance uses it by a {@link RedisLockStore},
 * whose scripts run on a {@link RedisModel}.
 */
public final class SimulatedRedis {

	private static final RedisLockKeys KEYS = new RedisLockKeys(RedisLockSettings.DEFAULTS.prefix());

	private static final long RECONNECT = Duration.ofMillis(500).toNanos();

	private static final Map<LockScript, String> TEXTS = new EnumMap<>(LockScript.class);

	static {
		for (LockScript each : LockScript.values()) {
			TEXTS.put(each, text(each.text()));
		}
	}

	private final RedisModel model;

	private final RedisScripts scripts;

	private final Grants grants;

	/** What ends the subscriptions of an instance. */
	private final Map<Wire, List<Runnable>> ends = new HashMap<>();

	/**
	 * Create a server.
	 * @param micros its clock: the microseconds since 1970
	 * @param grants told of each grant when the server decides on it
	 */
	public SimulatedRedis(LongSupplier micros, Grants grants) {
		this.model = new RedisModel(micros);
		this.scripts = new RedisScripts(this.model);
		this.grants = grants;
	}

	/**
	 * Lose all data.
	 */
	public void flush() {
		this.model.flush();
	}

	/**
	 * Notice that an instance is gone.
	 */
	public void close(Wire wire) {
		this.ends.getOrDefault(wire, List.of()).forEach(Runnable::run);
	}

	/**
	 * Return whether somebody has a lock.
	 */
	public boolean isTaken(LockKey key) {
		return this.model.exists(KEYS.lock(key));
	}

	/**
	 * Return the keys that stay for ever.
	 */
	public List<String> keysWithoutEnd() {
		return this.model.keysWithoutEnd();
	}

	/**
	 * Return the store of an instance.
	 */
	public LockStore connect(Wire wire, Time time) {
		Connection connection = new Connection(wire, time.random(2) == 0);
		LockConnections connections = new LockConnections(connection, connection, () -> new Subscription(wire, time),
				() -> {
				});
		return new RedisLockStore("", connections, RedisLockSettings.DEFAULTS, new Distance(), time::now,
				time.observe(Runnable::run), time.randomId());
	}

	private @Nullable Object run(ScriptCall call) {
		Object answer = this.scripts.run(TEXTS.getOrDefault(call.script(), ""), texts(call.keys()),
				texts(call.arguments()));
		if (call.script().isAcquisition() && answer instanceof List<?> list && Long.valueOf(1).equals(list.get(0))) {
			String lock = text(call.keys()[0]);
			this.grants.granted(LockText.parse(lock.substring(lock.indexOf('{') + 1, lock.length() - 1)),
					new OwnerToken(text(call.arguments()[0]),
							(call.script() == LockScript.ACQUIRE_SHARED) ? LockMode.READ : LockMode.EXCLUSIVE),
					(Long) list.get(1));
		}
		return answer;
	}

	/** An answer as drivers return it: texts are bytes. */
	private static @Nullable Object ofDriver(@Nullable Object answer) {
		return (answer instanceof List<?> list) ? list.stream().map(SimulatedRedis::ofDriver).toList()
				: (answer instanceof String text) ? text.getBytes(StandardCharsets.ISO_8859_1) : answer;
	}

	private static List<String> texts(byte[][] texts) {
		return Arrays.stream(texts).map(SimulatedRedis::text).toList();
	}

	private static String text(byte[] text) {
		return new String(text, StandardCharsets.ISO_8859_1);
	}

	/**
	 * What lies between an instance and the server.
	 */
	public interface Wire {

		/**
		 * Send a request.
		 * @param request what the server does; its stage is done at once
		 */
		<T> CompletionStage<T> send(Supplier<CompletionStage<T>> request);

		/**
		 * Deliver a message of the server.
		 */
		void deliver(Runnable message);

		/**
		 * Let the instance do something after a delay.
		 */
		void later(long nanos, Runnable action);

		/**
		 * Set what to do when the connection is closed.
		 */
		void onInterruption(Runnable task);

	}

	/**
	 * Is told of grants.
	 */
	public interface Grants {

		void granted(LockKey key, OwnerToken owner, long fencingBase);

	}

	private final class Connection implements ScriptConnection {

		private final Wire wire;

		private final boolean mayRepeat;

		private Connection(Wire wire, boolean mayRepeat) {
			this.wire = wire;
			this.mayRepeat = mayRepeat;
		}

		@Override
		public CompletableFuture<?> connect() {
			return CompletableFuture.completedFuture(true);
		}

		@Override
		@SuppressWarnings("unchecked")
		public <T, R> CompletableFuture<R> send(Supplier<ScriptCall> call, Function<T, R> reader) {
			ScriptCall sent = call.get();
			Supplier<CompletionStage<T>> request = () -> {
				try {
					return CompletableFuture.completedFuture((T) ofDriver(SimulatedRedis.this.run(sent)));
				}
				catch (RedisModel.RedisError ex) {
					return CompletableFuture.failedFuture(ScriptErrors.translate(ex, sent));
				}
			};
			return this.wire.send(request).thenApply(reader).toCompletableFuture();
		}

		@Override
		public <T> Replicated<T> runReplicated(ScriptCall call, int replicas, Duration timeout) {
			throw new UnsupportedOperationException("There are no replicas");
		}

		@Override
		public void onDoubt(Runnable task) {
			// There is no other server
		}

		@Override
		public boolean mayBlock() {
			return false;
		}

		@Override
		public boolean mayRepeat() {
			return this.mayRepeat;
		}

		@Override
		public boolean isCluster() {
			return false;
		}

	}

	/**
	 * A subscription with a driver that connects again. The server may notice late, or
	 * never, that its connection was lost.
	 */
	private final class Subscription implements SubscriptionConnection {

		private final Wire wire;

		private final Time time;

		private boolean closed;

		private Subscription(Wire wire, Time time) {
			this.wire = wire;
			this.time = time;
		}

		@Override
		public boolean subscribe(RedisSubscription listener, byte[] channel) {
			Consumer<String> subscriber = (message) -> this.wire.deliver(() -> listener
				.onMessage(new DefaultMessage(channel, message.getBytes(StandardCharsets.ISO_8859_1)), null));
			Runnable end = () -> SimulatedRedis.this.model.unsubscribe(text(channel), subscriber);
			SimulatedRedis.this.ends.computeIfAbsent(this.wire, (absent) -> new ArrayList<>()).add(end);
			this.wire.onInterruption(() -> {
				if (this.time.random(2) == 0) {
					end.run();
				}
				connect(listener, channel, subscriber);
			});
			connect(listener, channel, subscriber);
			return true;
		}

		private void connect(RedisSubscription listener, byte[] channel, Consumer<String> subscriber) {
			if (this.closed) {
				return;
			}
			this.wire.send(() -> {
				SimulatedRedis.this.model.subscribe(text(channel), subscriber);
				return CompletableFuture.completedFuture(true);
			}).whenComplete((done, ex) -> {
				if (ex != null) {
					this.wire.later(RECONNECT, () -> connect(listener, channel, subscriber));
				}
				else {
					listener.onChannelSubscribed(channel, 1);
				}
			});
		}

		@Override
		public void close() {
			this.closed = true;
			SimulatedRedis.this.close(this.wire);
		}

	}

}
