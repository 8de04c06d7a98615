// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation.bytecode;

import java.util.Arrays;
import java.util.function.BiConsumer;

import org.springframework.asm.Handle;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;

/**
 * Finds the calls of an instance method on {@code this}, in code with {@link CallFrames}.
 */
final class SelfCalls extends MethodVisitor {

	private final BiConsumer<String, String> onCall;

	/** The types on the operand stack before the next call, the last argument last. */
	private Object[] stack = new Object[0];

	/**
	 * Create a visitor.
	 * @param onCall receives the class of the called method, and its name with the
	 * descriptor
	 */
	SelfCalls(BiConsumer<String, String> onCall) {
		super(SpringAsmInfo.ASM_VERSION);
		this.onCall = onCall;
	}

	@Override
	public void visitFrame(int type, int locals, Object[] local, int size, Object[] stack) {
		this.stack = Arrays.copyOf(stack, size);
	}

	@Override
	public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
		if (opcode != Opcodes.INVOKESTATIC && isSelf(Type.getArgumentTypes(descriptor).length + 1)) {
			this.onCall.accept(owner, name + descriptor);
		}
	}

	@Override
	public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
		// The first captured value of a method reference is its receiver
		if (isSelf(Type.getArgumentTypes(descriptor).length)) {
			for (Object argument : arguments) {
				if (argument instanceof Handle method && method.getTag() != Opcodes.H_INVOKESTATIC) {
					this.onCall.accept(method.getOwner(), method.getName() + method.getDesc());
				}
			}
		}
	}

	private boolean isSelf(int depth) {
		return depth > 0 && depth <= this.stack.length && CallFrames.THIS.equals(this.stack[this.stack.length - depth]);
	}

}
