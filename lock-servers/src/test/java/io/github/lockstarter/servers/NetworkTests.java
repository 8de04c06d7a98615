// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The network to a server that says "yes" to whatever it hears.
 */
class NetworkTests {

	private final Server server = new Server();

	private final Network network = Network.to(this.server.listener.getLocalPort());

	@AfterEach
	void close() throws IOException {
		this.network.close();
		this.server.listener.close();
	}

	@Test
	void whatIsSentDuringACutArrivesLate() {
		Client client = new Client();
		assertThat(client.ask("a").join()).isEqualTo("a");
		this.network.cut();
		CompletableFuture<String> answer = client.ask("b");
		CompletableFuture<String> another = new Client().ask("c");
		assertThat(this.server.heard).isEqualTo("a");
		this.network.heal();
		assertThat(answer.join()).isEqualTo("b");
		assertThat(another.join()).isEqualTo("c");
	}

	@Test
	void requestsArriveWhileAnswersAreCut() {
		Client client = new Client();
		this.network.cutAnswers();
		CompletableFuture<String> answer = client.ask("a");
		await().until(() -> this.server.heard.equals("a"));
		assertThat(answer).isNotDone();
		this.network.heal();
		assertThat(answer.join()).isEqualTo("a");
	}

	@Test
	void whatACutHeldBackIsForgottenWithAReset() {
		Client client = new Client();
		assertThat(client.ask("a").join()).isEqualTo("a");
		this.network.cut();
		CompletableFuture<String> answer = client.ask("b");
		this.network.healWithReset();
		assertFails(answer);
		assertThat(new Client().ask("c").join()).isEqualTo("c");
		assertThat(this.server.heard).isEqualTo("ac");
	}

	@Test
	void oneAnswerIsLost() {
		this.network.loseAnswerTo("b");
		Client client = new Client();
		assertThat(client.ask("a").join()).isEqualTo("a");
		assertFails(client.ask("b"));
		assertThat(this.server.heard).isEqualTo("ab");
		assertThat(this.network.lostAnswers()).isEqualTo(1);
		assertThat(new Client().ask("b").join()).isEqualTo("b");
	}

	@Test
	void allAnswersAreLost() {
		Client client = new Client();
		this.network.loseAnswers();
		assertFails(client.ask("a"));
		assertFails(new Client().ask("b"));
		this.network.heal();
		assertThat(new Client().ask("c").join()).isEqualTo("c");
		assertThat(this.server.heard).isEqualTo("abc");
	}

	@Test
	void oneRequestIsHeldBack() throws InterruptedException {
		this.network.holdBack("b");
		Client client = new Client();
		assertThat(client.ask("a").join()).isEqualTo("a");
		CompletableFuture<String> answer = client.ask("b");
		this.network.awaitHeld();
		this.network.disconnect();
		assertFails(new Client().ask("c"));
		assertThat(this.server.heard).isEqualTo("a");
		this.network.letGo();
		assertThat(answer.join()).isEqualTo("b");
		assertFails(client.ask("d"));
	}

	@Test
	@Tag("clock")
	void aDistantServerAnswersLater() {
		this.network.delay(Duration.ofSeconds(1));
		Client client = new Client();
		CompletableFuture<String> answer = client.ask("a");
		this.network.cutAnswers();
		await().until(() -> this.server.heard.equals("a"));
		this.network.heal();
		assertThat(answer.join()).isEqualTo("a");
	}

	private static void assertFails(CompletableFuture<String> answer) {
		assertThatExceptionOfType(CompletionException.class).isThrownBy(answer::join);
	}

	private static final class Server {

		private final ServerSocket listener;

		private volatile String heard = "";

		Server() {
			try {
				this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			start(() -> {
				while (!this.listener.isClosed()) {
					Socket client = this.listener.accept();
					start(() -> echo(client));
				}
				return null;
			});
		}

		private @Nullable Void echo(Socket client) throws IOException {
			try (client) {
				InputStream input = client.getInputStream();
				OutputStream output = client.getOutputStream();
				for (int letter = input.read(); letter >= 0; letter = input.read()) {
					synchronized (this) {
						this.heard += (char) letter;
					}
					output.write(letter);
				}
			}
			return null;
		}

		private static void start(Callable<?> task) {
			Thread thread = new Thread(() -> {
				try {
					task.call();
				}
				catch (Exception ex) {
					// The connection is closed
				}
			});
			thread.setDaemon(true);
			thread.start();
		}

	}

	private final class Client {

		private final Socket socket;

		Client() {
			try {
				this.socket = new Socket(InetAddress.getLoopbackAddress(), NetworkTests.this.network.port());
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		CompletableFuture<String> ask(String letter) {
			return CompletableFuture.supplyAsync(() -> {
				try {
					this.socket.getOutputStream().write(letter.charAt(0));
					int answer = this.socket.getInputStream().read();
					if (answer < 0) {
						throw new IOException("No answer");
					}
					return String.valueOf((char) answer);
				}
				catch (IOException ex) {
					throw new UncheckedIOException(ex);
				}
			}, (task) -> new Thread(task).start());
		}

	}

}
