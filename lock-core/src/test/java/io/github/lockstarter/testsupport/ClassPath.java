// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A class path that is assembled by hand, for a separate JVM.
 */
public final class ClassPath {

	private final Set<String> entries = new LinkedHashSet<>();

	private ClassPath() {
	}

	/**
	 * Return a class path with the jars or folders of some classes.
	 */
	public static ClassPath of(Class<?>... types) {
		ClassPath classPath = new ClassPath();
		for (Class<?> type : types) {
			classPath.entries.add(location(type).toString());
		}
		return classPath;
	}

	/**
	 * Add jars of the present class path.
	 * @param names the beginnings of their file names
	 */
	public ClassPath andJars(List<String> names) {
		Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((entry) -> names.stream().anyMatch(Path.of(entry).getFileName().toString()::startsWith))
			.forEach(this.entries::add);
		return this;
	}

	/**
	 * Add a single class of the tests.
	 * @param type the class, without nested classes
	 * @param folder an empty folder
	 */
	public ClassPath andOnly(Class<?> type, Path folder) throws IOException {
		String file = type.getName().replace('.', '/') + ".class";
		Path copy = folder.resolve(file);
		Files.createDirectories(copy.getParent());
		Files.copy(location(type).resolve(file), copy);
		this.entries.add(folder.toString());
		return this;
	}

	private static Path location(Class<?> type) {
		try {
			return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
		}
		catch (URISyntaxException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public String toString() {
		return String.join(File.pathSeparator, this.entries);
	}

}
