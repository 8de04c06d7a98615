// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.simulation;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Breaks the engine in one place at a time, and expects that a world shows it. Each
 * mutation of {@code mutations.txt} has the first seed whose world does.
 * {@code -Dmutation=<part of a name>} runs some of them. {@code -Dmutation.seeds=2000}
 * looks for the first seed of those that have -1.
 */
@Tag("full")
class MutationTests {

	private static final Path SOURCES = Path.of("..", "lock-core", "src", "main", "java", "io", "github",
			"lockstarter");

	@TempDir
	private Path directory;

	@TestFactory
	Stream<DynamicTest> eachMutationIsFound() throws IOException {
		String wanted = System.getProperty("mutation", "");
		return Mutation.all()
			.stream()
			.filter((mutation) -> mutation.name.contains(wanted))
			.map((mutation) -> DynamicTest.dynamicTest(mutation.name, () -> isFound(mutation)));
	}

	private void isFound(Mutation mutation) throws Exception {
		int seeds = Integer.getInteger("mutation.seeds", 0);
		long first = (mutation.seed >= 0) ? mutation.seed : 1;
		long last = (mutation.seed >= 0) ? mutation.seed : seeds;
		long begin = System.nanoTime();
		String found = null;
		long seed = first - 1;
		try (URLClassLoader mutated = new ChildFirst(compile(mutation))) {
			while (found == null && seed < last) {
				seed++;
				found = find(mutated, seed);
			}
		}
		System.out.printf("%s | seed %d | %.1f s | %s%n", mutation.name, (found != null) ? seed : -1,
				(System.nanoTime() - begin) / 1e9, found);
		assertThat(found).as(mutation.name).isNotNull();
	}

	private static String find(ClassLoader classes, long seed) throws ReflectiveOperationException {
		return (String) Class.forName("io.github.lockstarter.simulation.SimulationRun", true, classes)
			.getMethod("find", long.class)
			.invoke(null, seed);
	}

	private URL compile(Mutation mutation) throws IOException {
		Path file = SOURCES.resolve(mutation.file);
		String source = Files.readString(file);
		assertThat(source.split(java.util.regex.Pattern.quote(mutation.before), -1))
			.as("%s: occurrences in %s", mutation.before, mutation.file)
			.hasSize(2);
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		StringWriter messages = new StringWriter();
		Path target = Files.createTempDirectory(this.directory, "classes");
		String changed = source.replace(mutation.before, mutation.after);
		boolean compiled = compiler.getTask(messages, null, null,
				List.of("-d", target.toString(), "-nowarn", "-cp", System.getProperty("java.class.path"), "--release",
						"17"),
				null, List.of(new SimpleJavaFileObject(URI.create("string:///" + file.getFileName()),
						javax.tools.JavaFileObject.Kind.SOURCE) {

					@Override
					public CharSequence getCharContent(boolean ignoreEncodingErrors) {
						return changed;
					}

				}))
			.call();
		assertThat(compiled).as(messages.toString()).isTrue();
		return target.toUri().toURL();
	}

	/**
	 * The engine and the simulation once more, with a class that is changed.
	 */
	private static final class ChildFirst extends URLClassLoader {

		ChildFirst(URL mutated) throws IOException {
			super(urls(mutated), ClassLoader.getSystemClassLoader());
		}

		private static URL[] urls(URL mutated) throws IOException {
			List<URL> urls = new ArrayList<>(List.of(mutated));
			for (String each : System.getProperty("java.class.path").split(java.io.File.pathSeparator)) {
				urls.add(Path.of(each).toUri().toURL());
			}
			return urls.toArray(URL[]::new);
		}

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			if (!name.startsWith("io.github.lockstarter.")) {
				return super.loadClass(name, resolve);
			}
			synchronized (getClassLoadingLock(name)) {
				Class<?> loaded = findLoadedClass(name);
				return (loaded != null) ? loaded : findClass(name);
			}
		}

	}

	/**
	 * One change of a source file.
	 *
	 * @param seed that of the world which shows it, or -1
	 */
	private record Mutation(String name, String file, long seed, String before, String after) {

		static List<Mutation> all() throws IOException {
			List<Mutation> all = new ArrayList<>();
			for (String block : Files.readString(Path.of("src", "test", "resources", "mutations.txt"))
				.strip()
				.split("\n\n+")) {
				String[] lines = block.lines().filter((line) -> !line.startsWith("#")).toArray(String[]::new);
				if (lines.length > 0) {
					String[] head = lines[0].split(" \\| ");
					all.add(new Mutation(head[0], head[1], Long.parseLong(head[2].strip()), part(lines, "- "),
							part(lines, "+ ")));
				}
			}
			return all;
		}

		private static String part(String[] lines, String sign) {
			return String.join("\n",
					Stream.of(lines)
						.skip(1)
						.filter((line) -> line.startsWith(sign))
						.map((line) -> line.substring(2))
						.toList());
		}

	}

}
