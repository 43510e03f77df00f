"""The PyTorch wing: concepts, file names and signatures of `bertlab.reference`, for training and for use."""

from bertlab.nn.attention import MultiHeadAttention, SelfAttention
from bertlab.nn.beam import beam_search
from bertlab.nn.bert import BertModel, BertOutput
from bertlab.nn.bert_config import BertConfig
from bertlab.nn.bert_heads import BertForPreTraining, PretrainingOutput
from bertlab.nn.character_cnn import CharacterCNN
from bertlab.nn.decoder import Decoder, DecoderLayer
from bertlab.nn.decoding import greedy_decode
from bertlab.nn.elmo import ELMo, ELMoForPreTraining, ELMoOutput
from bertlab.nn.elmo_config import ELMoConfig
from bertlab.nn.encoder import Encoder, EncoderLayer
from bertlab.nn.feed_forward import FeedForward
from bertlab.nn.glove import GloVe
from bertlab.nn.gpt import GPT, GPTOutput
from bertlab.nn.gpt_config import GPTConfig
from bertlab.nn.highway import Highway
from bertlab.nn.nnlm import NNLM
from bertlab.nn.positions import LearnedPositions, SinusoidalPositions
from bertlab.nn.recurrent import GRU, LSTM
from bertlab.nn.residual import Residual
from bertlab.nn.sampling import generate
from bertlab.nn.scalar_mix import ScalarMix
from bertlab.nn.seq2seq import Seq2Seq, Seq2SeqConfig
from bertlab.nn.transformer import Transformer
from bertlab.nn.transformer_config import TransformerConfig
from bertlab.nn.word2vec import Word2Vec

__all__ = [
    "GPT",
    "GRU",
    "LSTM",
    "NNLM",
    "BertConfig",
    "BertForPreTraining",
    "BertModel",
    "BertOutput",
    "CharacterCNN",
    "Decoder",
    "DecoderLayer",
    "ELMo",
    "ELMoConfig",
    "ELMoForPreTraining",
    "ELMoOutput",
    "Encoder",
    "EncoderLayer",
    "FeedForward",
    "GPTConfig",
    "GPTOutput",
    "GloVe",
    "Highway",
    "LearnedPositions",
    "MultiHeadAttention",
    "PretrainingOutput",
    "Residual",
    "ScalarMix",
    "SelfAttention",
    "Seq2Seq",
    "Seq2SeqConfig",
    "SinusoidalPositions",
    "Transformer",
    "TransformerConfig",
    "Word2Vec",
    "beam_search",
    "generate",
    "greedy_decode",
]
