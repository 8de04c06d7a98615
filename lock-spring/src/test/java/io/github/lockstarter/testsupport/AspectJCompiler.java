// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import org.aspectj.tools.ajc.Main;

/**
 * Compiles a class with the AspectJ compiler, which weaves the aspects of libraries into
 * it.
 */
public final class AspectJCompiler {

	private AspectJCompiler() {
	}

	/**
	 * Compile a class.
	 * @param folder an empty folder
	 * @param name simple name of the class
	 * @param source its source
	 * @param aspects classes of the libraries whose aspects to weave
	 */
	public static Class<?> compile(Path folder, String name, String source, List<Class<?>> aspects)
			throws IOException, ClassNotFoundException {
		Path file = Files.writeString(folder.resolve(name + ".java"), source);
		List<String> errors = new ArrayList<>();
		String aspectPath = aspects.stream()
			.map((type) -> type.getProtectionDomain().getCodeSource().getLocation().getPath())
			.collect(Collectors.joining(File.pathSeparator));
		Main.bareMain(
				new String[] { "-17", "-parameters", "-proc:none", "-d", folder.toString(), "-aspectpath", aspectPath,
						"-classpath", System.getProperty("java.class.path"), file.toString() },
				false, errors, errors, new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
		if (!errors.isEmpty()) {
			throw new IllegalStateException(String.join("\n", errors));
		}
		return new URLClassLoader(new URL[] { folder.toUri().toURL() }, AspectJCompiler.class.getClassLoader())
			.loadClass(name);
	}

}
