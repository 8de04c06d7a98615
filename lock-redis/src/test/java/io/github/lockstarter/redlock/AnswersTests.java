// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.redis.RedisVote;
import io.github.lockstarter.redis.Voter;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;

import static org.assertj.core.api.Assertions.assertThat;

class AnswersTests {

	private static final Duration LIMIT = Duration.ofHours(1);

	@Test
	void aServerThatIsNotSilentIsAwaited() {
		List<Server> servers = List.of(new Server(false), new Server(false), new Server(false));
		CompletableFuture<Answers<String>> answers = ask(servers);
		servers.get(0).answer("a");
		servers.get(1).answer("b");
		assertThat(answers).isNotDone();
		servers.get(2).answer("c");
		assertThat(answers.join().answers()).containsExactly("a", "b", "c");
	}

	@Test
	void aSilentServerIsNotAwaitedWhenAMajorityHasAnswered() {
		List<Server> servers = List.of(new Server(true), new Server(false), new Server(false));
		CompletableFuture<Answers<String>> answers = ask(servers);
		servers.get(1).answer("b");
		assertThat(answers).isNotDone();
		servers.get(2).answer("c");
		assertThat(answers.join().answers()).containsExactly("b", "c");
	}

	/** After a pause of this JVM, all servers seem to be silent. */
	@Test
	void aSilentServerIsAwaitedWhenAMajorityIsMissing() {
		List<Server> servers = List.of(new Server(true), new Server(true), new Server(true));
		CompletableFuture<Answers<String>> answers = ask(servers);
		servers.get(2).fail();
		servers.get(0).answer("a");
		assertThat(answers).isNotDone();
		servers.get(1).answer("b");
		assertThat(answers.join().answers()).containsExactly("a", "b");
	}

	@Test
	void noAnswerIsAwaitedThatWouldChangeNothing() {
		List<Server> servers = List.of(new Server(false), new Server(false), new Server(false));
		CompletableFuture<Answers<String>> answers = Answers.of(servers, Server::ask,
				(known) -> known.isMajority("a"::equals), LIMIT);
		servers.get(0).answer("a");
		servers.get(1).answer("a");
		assertThat(answers.join().missing()).isOne();
	}

	private static CompletableFuture<Answers<String>> ask(List<Server> servers) {
		return Answers.of(servers, Server::ask, (known) -> false, LIMIT);
	}

	private static final class Server implements Voter {

		private final CompletableFuture<String> answer = new CompletableFuture<>();

		private final boolean silent;

		Server(boolean silent) {
			this.silent = silent;
		}

		CompletableFuture<String> ask() {
			return this.answer;
		}

		void answer(String answer) {
			this.answer.complete(answer);
		}

		void fail() {
			this.answer.completeExceptionally(new IllegalStateException("No connection"));
		}

		@Override
		public boolean isSilent() {
			return this.silent;
		}

		@Override
		public RedisVote.@Nullable Run lastRun() {
			return null;
		}

		@Override
		public CompletableFuture<RedisVote> acquire(LeaseRequest request, long attempt) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletableFuture<Boolean> raise(LockKey key, OwnerToken owner, long base) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletableFuture<Boolean> release(LockKey key, OwnerToken owner, long attempt) {
			throw new UnsupportedOperationException();
		}

	}

}
