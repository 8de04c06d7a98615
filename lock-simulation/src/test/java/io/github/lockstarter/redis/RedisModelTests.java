// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.redis.RedisModel.RedisError;
import io.github.lockstarter.redis.RedisModel.Status;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.servers.RedisSocket;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sends the same random script calls to a {@link RedisModel} and to a real Redis, and
 * compares the answers, the messages, and all keys with their ends.
 * {@code -Dsimulation.seed=7} chooses the calls again, but not their times.
 *
 * <p>
 * Both have the clock of the real server, to the microsecond: the script is told the time
 * at which it began. A millisecond may end while it runs; then only the keys are
 * compared, and if they differ both servers start again without data. So this shows
 * nothing of a clock that is set, and little of times above some seconds.
 */
class RedisModelTests {

	private static final String BEFORE = """
			local server, begin = redis, redis.call('TIME')
			local function answering(call)
			  return function(command, ...)
			    if command == 'TIME' then
			      return begin
			    elseif command == 'INFO' then
			      return '# Server\\r\\nrun_id:0f\\r\\nuptime_in_seconds:7\\r\\n'
			    end
			    return call(command, ...)
			  end
			end
			local redis = {call = answering(redis.call), pcall = answering(redis.pcall)}
			local ok, answer = pcall(function()
			""";

	private static final String BETWEEN = """

			end)
			if not ok then
			  answer = string.match(type(answer) == 'table' and answer.err or answer, '^%u+') or 'ERR'
			end
			local state = (function()
			""";

	private static final String BEHIND = """
			end)()
			return {begin, answer, 'keys', state, server.call('TIME')}
			""";

	private static final RedisLockKeys KEYS = new RedisLockKeys("lock:");

	private static final List<LockKey> LOCKS = List.of(LockKey.of("stock", 1), LockKey.of("stock", 2));

	private static final String REDLOCK = KEYS.lock(LockKey.of("stock", 3));

	private static final String STATE = """
			local state = {}
			for _, key in ipairs({'%s'}) do
			  local text = redis.pcall('GET', key)
			  local set = type(text) == 'table'
			  state[#state + 1] = key .. ' until ' .. redis.call('PEXPIRETIME', key)
			  for _, element in ipairs(set and redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') or {text or 'none'}) do
			    state[#state + 1] = element
			  end
			end
			return state
			""".formatted(Stream
		.concat(LOCKS.stream().flatMap((key) -> keys(KEYS.lock(key)).stream()), Stream.of(REDLOCK, KEYS.fence(REDLOCK)))
		.collect(Collectors.joining("', '")));

	private final long seed = Long.getLong("simulation.seed", ThreadLocalRandom.current().nextLong(1L << 40));

	private final Random random = new Random(this.seed);

	private final List<LockScriptCalls> instances = new ArrayList<>();

	private final List<OwnerToken> owners = new ArrayList<>();

	private final Map<String, Integer> outcomes = new TreeMap<>();

	private long micros;

	private final RedisModel model = new RedisModel(() -> this.micros);

	private final RedisScripts scripts = new RedisScripts(this.model);

	private OwnerToken lastOwner = OwnerToken.random();

	RedisModelTests() {
		for (int i = 1; i <= 3; i++) {
			Distance distance = new Distance(Duration.ofMillis(1));
			distance.measured(Duration.ofMillis(this.random.nextInt(3)).toNanos());
			LockScriptCalls calls = new LockScriptCalls(KEYS, Duration.ofMillis(30), () -> this.random.nextInt(4) == 0,
					distance, String.format("%022d", i));
			calls.setInstance("orders-" + i);
			this.instances.add(calls);
			for (LockMode mode : LockMode.values()) {
				this.owners.add(new OwnerToken("orders-" + i + '.' + String.format("%021d", i) + mode.ordinal(), mode));
			}
		}
	}

	@Test
	void answersAsRedisDoesInThreeThousandCalls() {
		compare(3000);
	}

	@Test
	@Tag("full")
	void answersAsRedisDoesInFiftyThousandCalls() {
		compare(50_000);
	}

	private void compare(int calls) {
		try (RedisServer server = RedisServer.start();
				RedisSocket socket = new RedisSocket(server.port());
				Listeners listeners = new Listeners(server)) {
			Map<String, String> digests = new HashMap<>();
			int compared = 0;
			for (int i = 1; compared < calls; i++) {
				if (this.random.nextInt(20) == 0) {
					listeners.change(this.instances.get(this.random.nextInt(this.instances.size())));
				}
				Call call = next();
				String text = BEFORE + call.text + BETWEEN + STATE + BEHIND;
				String digest = digests.computeIfAbsent(text, (absent) -> socket.command("SCRIPT", "LOAD", absent));
				long before = Answer.micros(List.of(socket.command("TIME").split("\n")));
				Answer expected = Answer.of(socket.command(call.command(digest)));
				this.micros = expected.begin;
				String answer = call.run(this.scripts);
				String keys = text(this.scripts.run(STATE, List.of(), List.of()));
				if (before / 1000 == expected.end / 1000) {
					assertThat(answer + "\n\n" + keys).as("call %d of seed %d: %s", i, this.seed, call)
						.isEqualTo(expected.answer + "\n\n" + expected.keys);
					compared++;
					this.outcomes.merge(call.name + ' ' + answer.lines().findFirst().orElse(""), 1, Integer::sum);
				}
				else {
					listeners.clear();
					if (!keys.equals(expected.keys)) {
						this.model.flush();
						socket.command("FLUSHALL");
						this.outcomes.merge("flushed", 1, Integer::sum);
					}
				}
				if (i % 50 == 0) {
					listeners.compare(this.seed);
				}
			}
		}
		assertThat(this.outcomes).containsKeys("ACQUIRE 1", "ACQUIRE 0", "ACQUIRE WRONGTYPE", "ACQUIRE_FAIR 1",
				"ACQUIRE_FAIR 0", "ACQUIRE_SHARED 1", "ACQUIRE_SHARED 0", "RENEW 1", "RENEW_SHARED 1", "RELEASE 1",
				"RELEASE 0", "RELEASE_SHARED 1", "KEEP 1", "ARRIVE 1", "WITHDRAW 1", "REDLOCK_RENEW 1",
				"REDLOCK_RELEASE 1");
	}

	private Call next() {
		LockScriptCalls calls = any(this.instances);
		LockKey key = any(LOCKS);
		OwnerToken owner = this.random.nextBoolean() ? this.lastOwner : any(this.owners);
		int kind = this.random.nextInt(100);
		if (kind < 40) {
			this.lastOwner = any(this.owners);
			return Call.of(calls.acquire(request(key, this.lastOwner), this.random.nextInt(3) > 0));
		}
		if (kind < 58) {
			return Call.of(calls.release(key, owner, this.random.nextBoolean()));
		}
		if (kind < 68) {
			List<OwnerToken> together = this.owners.stream()
				.filter((each) -> (each.mode() == LockMode.READ) == (owner.mode() == LockMode.READ))
				.toList();
			Duration leaseTime = Duration.ofMillis(this.random.nextInt(12));
			return Call.of(calls.renew(Stream.generate(() -> new LeaseRequest(any(LOCKS), any(together), leaseTime))
				.limit(1 + this.random.nextInt(3))
				.toList()));
		}
		if (kind < 72) {
			return Call.of(calls.keep(key, owner, time()));
		}
		if (kind < 76) {
			return Call.of(calls.enter(key, new OwnerToken(owner.value(), LockMode.FAIR)));
		}
		if (kind < 84) {
			return Call.of(calls.withdraw(key, this.random.nextBoolean() ? owner : null));
		}
		if (kind < 88) {
			return Call.of(calls.inspect(key));
		}
		String lock = KEYS.lock(key);
		return (kind < 96) ? ofRedlock() : (kind < 98) ? ofAnotherProgram(any(keys(lock)))
				: new Call("CLEAN", "return redis.call('DEL', unpack(KEYS))", keys(lock), List.of());
	}

	private static List<String> keys(String lock) {
		return List.of(lock, KEYS.queue(lock), KEYS.turn(lock), KEYS.fence(lock), KEYS.readers(lock));
	}

	private Call ofRedlock() {
		List<String> keys = List.of(REDLOCK, KEYS.fence(REDLOCK));
		String owner = any(List.of("orders-1:", "orders-2:"));
		String attempt = Integer.toString(1 + this.random.nextInt(50));
		String lease = Long.toString(10 * time().toMillis());
		return switch (this.random.nextInt(6)) {
			case 0 -> Call.of(LockScript.REDLOCK_RUN, List.of(REDLOCK));
			case 1 ->
				Call.of(LockScript.REDLOCK_RENEW, keys, attempt, "30", owner, this.random.nextBoolean() ? lease : "0");
			case 2 -> Call.of(LockScript.REDLOCK_RAISE, keys, owner, attempt, "30");
			case 3 -> Call.of(LockScript.REDLOCK_RELEASE, List.of(REDLOCK),
					this.random.nextBoolean() ? owner : owner + attempt + ':');
			case 4 -> Call.of(LockScript.REDLOCK_INSPECT, keys);
			default -> Call.of(LockScript.REDLOCK_ACQUIRE, keys, owner, attempt, lease, "30");
		};
	}

	/** Values and types that the scripts have not written. */
	private Call ofAnotherProgram(String key) {
		String text = any(List.of("return redis.call('DEL', KEYS[1])",
				"return redis.call('SET', KEYS[1], 'shared', 'PX', 9)", "return redis.call('SET', KEYS[1], 'foreign')",
				"redis.call('DEL', KEYS[1]) redis.call('ZADD', KEYS[1], 1.5, 'foreign')"
						+ " return redis.call('PEXPIRE', KEYS[1], 9)"));
		return new Call("FOREIGN", text, List.of(key), List.of());
	}

	private LeaseRequest request(LockKey key, OwnerToken owner) {
		return new LeaseRequest(key, owner, time());
	}

	private Duration time() {
		return Duration.ofMillis(1 + this.random.nextInt(12));
	}

	private <T> T any(List<T> elements) {
		return elements.get(this.random.nextInt(elements.size()));
	}

	/** As a {@link RedisSocket} shows an answer. */
	private static String text(@Nullable Object answer) {
		return (answer instanceof List<?> list)
				? list.stream().map(RedisModelTests::text).collect(Collectors.joining("\n"))
				: (answer instanceof Status status) ? status.text() : (answer != null) ? answer.toString() : "(nil)";
	}

	private record Call(String name, String text, List<String> keys, List<String> arguments) {

		static Call of(ScriptCall call) {
			return of(call.script(), texts(call.keys()), texts(call.arguments()).toArray(String[]::new));
		}

		static Call of(LockScript script, List<String> keys, String... arguments) {
			return new Call(script.name(), new String(script.text(), StandardCharsets.UTF_8), keys, List.of(arguments));
		}

		private static List<String> texts(byte[][] texts) {
			return Arrays.stream(texts).map((each) -> new String(each, StandardCharsets.UTF_8)).toList();
		}

		String[] command(String digest) {
			return Stream
				.of(Stream.of("EVALSHA", digest, Integer.toString(this.keys.size())), this.keys.stream(),
						this.arguments.stream())
				.flatMap((each) -> each)
				.toArray(String[]::new);
		}

		String run(RedisScripts scripts) {
			try {
				return RedisModelTests.text(scripts.run(this.text, this.keys, this.arguments));
			}
			catch (RedisError ex) {
				return String.valueOf(ex.getMessage()).split(" ")[0];
			}
		}

		@Override
		public String toString() {
			return this.name + ' ' + this.keys + ' ' + this.arguments;
		}

	}

	/**
	 * What the real server has answered.
	 *
	 * @param begin the microseconds since 1970 when the script began
	 */
	private record Answer(long begin, String answer, String keys, long end) {

		static Answer of(String text) {
			List<String> lines = List.of(text.split("\n", -1));
			int keys = lines.indexOf("keys");
			int last = lines.size() - 2;
			return new Answer(micros(lines.subList(0, 2)), String.join("\n", lines.subList(2, keys)),
					String.join("\n", lines.subList(keys + 1, last)), micros(lines.subList(last, last + 2)));
		}

		private static long micros(List<String> time) {
			return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
		}

	}

	/**
	 * The instances that listen, on both servers.
	 */
	private final class Listeners implements AutoCloseable {

		private final RedisServer server;

		private final Map<String, RedisSocket> sockets = new HashMap<>();

		private final Consumer<String> subscriber = (message) -> this.expected.add(message);

		private final List<String> expected = new ArrayList<>();

		private final List<String> received = new ArrayList<>();

		private Listeners(RedisServer server) {
			this.server = server;
		}

		/** Let an instance begin to listen, or end. */
		private void change(LockScriptCalls instance) {
			String channel = KEYS.channel(instance.id());
			RedisSocket listening = this.sockets.remove(channel);
			if (listening == null) {
				RedisSocket socket = new RedisSocket(this.server.port());
				socket.command("SUBSCRIBE", channel);
				this.sockets.put(channel, socket);
				RedisModelTests.this.model.subscribe(channel, this.subscriber);
			}
			else {
				receive(listening, "unsubscribe", "UNSUBSCRIBE");
				listening.close();
				RedisModelTests.this.model.unsubscribe(channel, this.subscriber);
			}
		}

		private void receive(RedisSocket socket, String end, String... command) {
			String message = socket.command(command);
			while (!message.startsWith(end)) {
				this.received.add(message.substring(message.lastIndexOf('\n') + 1));
				message = socket.read();
			}
		}

		private void compare(long seed) {
			this.sockets.values().forEach((each) -> receive(each, "pong", "PING"));
			assertThat(this.received).as("messages with seed %d", seed)
				.containsExactlyInAnyOrderElementsOf(this.expected);
			clear();
		}

		private void clear() {
			this.sockets.values().forEach((each) -> receive(each, "pong", "PING"));
			this.received.clear();
			this.expected.clear();
		}

		@Override
		public void close() {
			this.sockets.values().forEach(RedisSocket::close);
		}

	}

}
